"""A parameter that limits nothing, or that can name nothing, is refused and never means everything."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import task, write_suite
from waza_engine.commands.methods import Methods
from waza_engine.json_rpc import RpcError
from waza_engine.usable_text import why_unusable


@pytest.fixture
def methods() -> Iterator[Methods]:
    made = Methods(lambda _: None)
    yield made
    made.close()


def refusal(methods: Methods, method: str, **params: Any) -> str:
    with pytest.raises(RpcError) as caught:
        methods.table[method](params)()
    assert (caught.value.code, "Traceback" in caught.value.message) == (-32602, False)
    return caught.value.message


@pytest.mark.parametrize("method", ["eval.run", "run.estimate", "run.affected"])
@pytest.mark.parametrize("key", ["tasks", "graders", "tags", "prompts"])
@pytest.mark.parametrize("value", [[], [""], [" \t"], ["a", ""]])
def test_an_empty_filter_of_a_run_is_refused(
    methods: Methods, tmp_path: Path, method: str, key: str, value: list[str]
) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    said = refusal(methods, method, path=str(path), **{key: value})
    assert said.startswith(f"`{key}` {'has a blank entry' if value else 'is empty'}; name at least one")


@pytest.mark.parametrize("method", ["grader.grade", "grader.strength"])
@pytest.mark.parametrize(("key", "value"), [("task", ""), ("task", " "), ("grader", ""), ("grader", "\n")])
def test_a_blank_filter_of_grading_again_is_refused(
    methods: Methods, tmp_path: Path, method: str, key: str, value: str
) -> None:
    path = tmp_path / "results.json"
    path.write_text("{}")
    assert f"`{key}`" in refusal(methods, method, record=str(path), **{key: value})


def test_an_empty_list_of_graders_is_refused_by_grading_again(methods: Methods, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("{}")
    assert "`graders` is empty" in refusal(methods, "grader.grade", record=str(path), graders=[])


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("trials", 1001, "1000 or less"),
        ("trials", -1, "1 or more"),
        ("workers", 257, "256 or less"),
        ("workers", 0, "1 or more"),
        ("timeout", 604_801, "604800 or less"),
        ("timeout", 0, "1 or more"),
        ("timeout", 10**400, "604800 or less"),
        ("timeout", 1.5, "a whole number"),
        ("max_cost", float("nan"), "0 or more"),
        ("max_cost", 10**400, "0 or more"),
        ("changed_since", " ", "must be given"),
    ],
)
def test_a_number_out_of_bounds_is_refused(
    methods: Methods, tmp_path: Path, key: str, value: float | str, said: str
) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    told = refusal(methods, "eval.run", path=str(path), **{key: value})
    assert f"`{key}`" in told
    assert said in told


def methods_and_keys() -> Iterator[tuple[str, str]]:
    for method in Methods(lambda _: None).table:
        for key in ("path", "task", "task_id", "record", "run_id", "session", "anything"):
            yield method, key


@pytest.mark.parametrize(("method", "key"), list(methods_and_keys()))
@pytest.mark.parametrize("text", ["a\0b", "\ud800", "/tmp/\udfff", "caf\udce9"], ids=ascii)
def test_text_that_can_name_nothing_is_refused_by_every_method(
    methods: Methods, method: str, key: str, text: str
) -> None:
    for value in (text, [text], {"deep": [{"er": text}]}):
        assert refusal(methods, method, **{key: value}).endswith("; leave it out.")


def test_a_key_that_can_be_no_name_is_refused_and_not_repeated(methods: Methods) -> None:
    assert refusal(methods, "eval.get", **{"a\0": 1}).startswith("The request contains a NUL")
    assert "NUL" in refusal(methods, "live.update", session="1", overlays={"/a\0": "x"})


def test_texts_of_files_and_paths_that_are_no_utf8_are_taken() -> None:
    assert why_unusable({"overlays": {"/a": "name: \0\ud800"}}, contents=("overlays",)) is None
    assert why_unusable({"path": "/suites/caf\udce9/eval.yaml"}) is None
    assert why_unusable({"task": "é 😋", "deep": [1, None, {"a": True}]}) is None


def test_nested_parameters_are_looked_through_to_any_depth() -> None:
    nested: Any = "\0"
    for _ in range(100_000):
        nested = [nested]
    assert why_unusable({"path": nested}) == "`path` contains a NUL character; leave it out."
