"""Which versions of the eval file's format are read, and which keys go with which of them."""

from typing import Any

import pytest

from tests.engine.spec.schema_reading import error_validator, warning_paths
from tests.engine.spec.test_parity import accepts
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.task_file import TaskFile

CONFIG = {"trials_per_task": 1, "timeout_seconds": 30, "executor": "mock", "model": "m"}
SUITE: dict[str, Any] = {"name": "suite", "config": CONFIG, "tasks": ["tasks/*.yaml"]}
SCENARIO = {"scenario": "inventory", "schemaVersion": "2.0"}
TASK: dict[str, Any] = {"id": "t", "name": "T", "inputs": {"prompt": "Go"}}
REQUIREMENT: dict[str, Any] = {"id": "kept", "category": "outcome", "description": "It is kept."}
CHECK = {"scope": "task", "grader": "present"}


RESPONSE: dict[str, Any] = {"args": ["status"], "stdout": {"state": "ready"}}
STEPS = [{"exit_code": 1}, {"stdout": "x", "delay_ms": 3}]


def mocking(*responses: dict[str, Any], **keys: object) -> dict[str, Any]:
    return {"command_mocks": [{"name": "az", "responses": list(responses), **keys}]}


MOCKS = {"mcp_mocks": [{"name": "a", "fixtures": "f"}]}
PACKS = {"adversarial": {"packs": ["scope-bypass"]}}


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.99", "", 1.4, None])
def test_every_version_1_of_a_suite_of_a_skill_is_read(version: object) -> None:
    assert reads({"skill": "reader", "schemaVersion": version})


@pytest.mark.parametrize(("version", "keys"), [("1.1", MOCKS), ("1.10", PACKS), (None, PACKS)])
def test_keys_are_read_in_their_version_and_later_ones(version: object, keys: dict[str, Any]) -> None:
    assert reads({"skill": "reader", "schemaVersion": version, **keys})


@pytest.mark.parametrize(
    "keys",
    [
        SCENARIO,
        {**SCENARIO, "skill": "reader"},
        {**SCENARIO, "schemaVersion": 2.0},
        {**SCENARIO, "config": {**CONFIG, "required_skills": ["a"], "skill_directories": ["skills"]}},
    ],
)
def test_a_scenario_is_read_in_version_2(keys: dict[str, Any]) -> None:
    assert reads(keys)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"scenario": "inventory"}, '`scenario` needs `schemaVersion: "2.0"`'),
        ({"scenario": "inventory", "schemaVersion": "1.5"}, '`scenario` needs `schemaVersion: "2.0"`'),
        ({"skill": "reader", "schemaVersion": "2.0"}, "is for suites with a `scenario`"),
        ({**SCENARIO, "schemaVersion": "2.1"}, "must be a format version"),
        ({**SCENARIO, "schemaVersion": "3.0"}, "must be a format version"),
        ({**SCENARIO, "scenario": "  "}, "must not be blank"),
        ({**SCENARIO, "config": {**CONFIG, "required_skills": ["a"]}}, "needs `config.skill_directories`"),
        ({"schemaVersion": "1.2", **mocking(RESPONSE)}, "`command_mocks` needs"),
        ({"schemaVersion": "1.0", **MOCKS}, "`mcp_mocks` needs"),
        ({"schemaVersion": 1.0, **MOCKS}, "`mcp_mocks` needs"),
        ({"schemaVersion": "1.1", **PACKS}, "`adversarial` needs"),
    ],
)
def test_what_does_not_go_with_a_version_is_said(keys: dict[str, Any], said: str) -> None:
    assert not reads(keys)
    with pytest.raises(ValueError, match=r"schemaVersion|scenario|config|version") as raised:
        EvalFile.model_validate({**SUITE, **keys})
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "response",
    [
        RESPONSE,
        {"args": []},
        {"args_regex": ["show", "[0-9]+"], "stderr": "x", "exit_code": 255, "workdir": "a/b"},
        {"args": ["x"], "fixture": "mocks/a.json", "environment": {"REGION": "west"}},
    ],
)
def test_command_mocks_are_read(response: dict[str, Any]) -> None:
    assert reads({"skill": "reader", **mocking(response, expect_calls=0)})
    assert reads({"skill": "reader", "schemaVersion": "1.3", **mocking(response)})


@pytest.mark.parametrize(
    "response",
    [
        {"stdout": "x"},
        {"args": [], "args_regex": []},
        {"args": [], "stdout": "x", "fixture": "y"},
        {"args": [], "exit_code": 256},
        {"args": [], "fixture": "../y"},
        {"args": [], "sequence": STEPS, "stdout": "x"},
        {"args": [], "sequence": []},
        {"args": [], "sequence": [{"delay_ms": 3}]},
        {"args": [], "sequence": [{"stdout": "x", "delay_ms": 1.5}]},
    ],
)
def test_a_response_that_means_nothing_is_refused(response: dict[str, Any]) -> None:
    assert not reads({**SCENARIO, **mocking(response)})


def test_a_sequence_needs_a_scenario() -> None:
    tools = {"open": {"responses": [{"sequence": [{"return": 1}]}]}}
    for more in (mocking({"args": [], "sequence": STEPS}), {"mcp_mocks": [{"name": "m", "tools": tools}]}):
        assert reads({**SCENARIO, **more})
        assert not reads({"skill": "reader", **more})


@pytest.mark.parametrize("name", ["", "a b", "../az", "-az", "az/show"])
def test_a_mocked_program_has_the_name_of_a_program(name: str) -> None:
    assert not reads({"skill": "reader", "command_mocks": [{"name": name, "responses": [RESPONSE]}]})


def test_two_mocks_of_one_program_are_refused() -> None:
    mocks = [{"name": name, "responses": [RESPONSE]} for name in ("az", "AZ")]
    assert not accepts(EvalFile, {**SUITE, "skill": "reader", "command_mocks": mocks})


@pytest.mark.parametrize(
    "requirement",
    [
        REQUIREMENT,
        {**REQUIREMENT, "checks": [CHECK, {"scope": "checkpoint", "grader": "present", "after_turn": 1}]},
    ],
)
def test_requirements_of_a_task_are_read(requirement: dict[str, Any]) -> None:
    assert task_reads([requirement])


def test_a_requirement_describes_so_nothing_in_it_keeps_a_task_from_running() -> None:
    assert task_reads([{**REQUIREMENT, "category": "style"}, {**REQUIREMENT, "checks": [CHECK, CHECK]}])
    assert warning_paths("task", {**TASK, "requirements": [{**REQUIREMENT, "category": "style"}]}) == [
        ("requirements", 0, "category")
    ]


def reads(keys: dict[str, Any]) -> bool:
    """Tell whether a suite is read; the schema of the editor must say the same as the model."""
    document = {**SUITE, **keys}
    read = accepts(EvalFile, document)
    assert error_validator("eval").is_valid(document) is read
    return read


def task_reads(requirements: list[Any]) -> bool:
    document = {**TASK, "requirements": requirements}
    read = accepts(TaskFile, document)
    assert error_validator("task").is_valid(document) is read
    return read
