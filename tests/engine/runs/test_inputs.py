"""What decided a run stands in its record: digests of files, and their texts to compare with later."""

import hashlib
from pathlib import Path

import pytest

from tests.engine.executors.talking import write_skill
from tests.engine.suites import CONFIG, GREETS, present, run, task, write_suite
from waza_engine.results.inputs import RunInputs, inputs_of
from waza_engine.results.reading.newest_scores import latest_results


def recorded(suite: Path) -> RunInputs:
    found = present(latest_results(suite))
    return inputs_of(found.path, present(found.origin).inputs)


def test_the_record_has_digests_of_all_that_decided_the_run(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/notes.txt").write_text("one\n", "utf-8")
    (tmp_path / "check.py").write_text("print(1)\n", "utf-8")
    write_skill(tmp_path / "skills", "writer")
    first = "id: a\nname: a\ninputs: {prompt: hello, files: [notes.txt]}\n"
    program = "- {type: program, name: p, config: {command: python3, args: [check.py]}}\n"
    config = CONFIG.replace("mock}", "mock, skill_directories: [skills]}")
    path = write_suite(tmp_path, {"a": first, "b": task("b")}, graders=GREETS + program, config=config)
    run(path)
    found = recorded(tmp_path)
    by_path = {file.path: file for file in found.files}
    skill = next(name for name in by_path if name.endswith("SKILL.md"))
    assert {"eval.yaml", "check.py", "fixtures/notes.txt", "tasks/a.yaml", "tasks/b.yaml"} <= set(by_path)
    assert by_path["fixtures/notes.txt"].sha256 == hashlib.sha256(b"one\n").hexdigest()
    assert by_path["fixtures/notes.txt"].tasks == ("a",)
    assert by_path[skill].tasks == ()
    assert found.texts["fixtures/notes.txt"] == "one\n"
    assert found.texts[skill] == (tmp_path / skill).read_text("utf-8")


def test_credentials_are_masked_in_the_texts_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value-123")
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/notes.txt").write_text("the key is very-secret-value-123\n", "utf-8")
    first = "id: a\nname: a\ninputs: {prompt: hello, files: [notes.txt]}\n"
    run(write_suite(tmp_path, {"a": first}, graders=GREETS))
    found = recorded(tmp_path)
    assert "fixtures/notes.txt" in found.texts
    (kept,) = (tmp_path / ".waza/inputs").iterdir()
    assert "very-secret-value" not in kept.read_text("utf-8")


def test_what_is_long_or_no_text_has_a_digest_alone(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/long.txt").write_bytes(b"x" * 300_000)
    (tmp_path / "fixtures/picture.png").write_bytes(b"\x89PNG\xff")
    first = "id: a\nname: a\ninputs: {prompt: hello, files: [long.txt, picture.png]}\n"
    run(write_suite(tmp_path, {"a": first}, graders=GREETS))
    found = recorded(tmp_path)
    assert {"fixtures/long.txt", "fixtures/picture.png"} <= {file.path for file in found.files}
    assert set(found.texts) == {"eval.yaml", "tasks/a.yaml"}


def test_runs_of_the_same_files_share_what_is_kept_of_them(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    run(path)
    run(path)
    assert len(list((tmp_path / ".waza/inputs").iterdir())) == 1


def test_nothing_is_written_where_a_link_leads_out_of_the_suite(tmp_path: Path) -> None:
    path = write_suite(tmp_path / "suite", {"a": task("a")}, graders=GREETS)
    (tmp_path / "elsewhere").mkdir()
    (path.parent / ".waza").mkdir()
    (path.parent / ".waza/inputs").symlink_to(tmp_path / "elsewhere")
    report, _ = run(path)
    assert report.outcome.status == "completed"
    assert list((tmp_path / "elsewhere").iterdir()) == []
