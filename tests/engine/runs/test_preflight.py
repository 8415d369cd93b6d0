"""What is found out before a run pays for anything, and what ``preflight`` says of it offline."""

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests.command_line import engine, stdout_of
from tests.engine.executors.agents import write_agent
from tests.engine.executors.talking import write_skill
from tests.engine.suites import CONFIG, GREETS, run, task, write_prompts, write_suite
from tests.hostile_peers import hostile_peer
from waza_engine.commands.preflight import preflight
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preflight import inspection
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings

PAID = "config: {trials_per_task: 1, timeout_seconds: 60, executor: command, adapter: adapter.json}\n"
JUDGE = "- {type: prompt, name: judge, config: {prompt: 'Call set_waza_grade_pass if it is good.'}}\n"
NO_PROGRAM = "- {type: program, name: checks, config: {command: no-such-program-anywhere}}\n"
NO_SCRIPT = "- {type: program, name: checks, config: {command: python3, args: [gone/check.py]}}\n"
NO_SCHEMA = "- {type: json_schema, name: checks, config: {schema_file: gone.json}}\n"
NO_SKILL = "- {type: trigger, name: checks, config: {skill_path: gone, mode: positive}}\n"
STATE = {"enum": ["verified", "unresolved", "unsupported", "invalid"]}


def closed(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object that has these keys and no others; those with ``_`` may be missing."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [key for key in properties if not key.startswith("_")],
        "properties": {key.removeprefix("_"): value for key, value in properties.items()},
    }


TEXT = {"type": "string"}
# Upstream's ``preflight.schema.json`` 1.0 in fewer words.
UPSTREAM = closed(
    kind={"const": "waza.preflight"},
    schemaVersion={"const": "1.0"},
    source=TEXT,
    executor=TEXT,
    complete={"type": "boolean"},
    tasks={
        "items": closed(
            id=TEXT,
            name=TEXT,
            source=TEXT,
            enabled={"type": "boolean"},
            context_dir=TEXT,
            requirements={
                "items": closed(
                    id=TEXT,
                    category=TEXT,
                    description=TEXT,
                    state=STATE,
                    meaning=TEXT,
                    _checks={"items": closed(scope=TEXT, grader=TEXT, _after_turn={"type": "integer"})},
                )
            },
        )
    },
    capabilities={"items": closed(name=TEXT, state=STATE, meaning=TEXT)},
    dependencies={"items": closed(kind=TEXT, name=TEXT, mode=TEXT, state=STATE, _task_id=TEXT)},
    diagnostics={
        "items": closed(
            code=TEXT,
            state=STATE,
            severity={"enum": ["info", "warning", "error"]},
            source=TEXT,
            _task_id=TEXT,
            _requirement_id=TEXT,
            message=TEXT,
            remediation=TEXT,
        )
    },
)


def at_checkpoint(*graders: str) -> str:
    return "checkpoints:\n- after_turn: 1\n  graders:\n" + "".join(f"  {grader}" for grader in graders)


def paid_suite(
    directory: Path, graders: str = GREETS, more: str = "", below: str = "", settings: str = ""
) -> Path:
    """Write a suite whose agent leaves a line for each time that it is asked."""
    write_agent(
        directory, f"open({str(directory / 'asked')!r}, 'a').write('x')\nsay(type='result', content='hello')"
    )
    tasks = {"a": task("a"), "b": task("b", below)}
    config = PAID.replace("{", f"{{{settings}", 1)
    return write_suite(directory, tasks, graders=graders, config=config, more=more)


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(SuiteError) as caught:
        prepare(RunSettings(path, **options))
    assert not (path.parent / "asked").exists()
    return str(caught.value)


def codes(path: Path, *arguments: str) -> tuple[int, dict[str, str]]:
    """Return the exit code of ``preflight``, and the states of what it finds by their codes."""
    found = engine("preflight", path, "--format", "json", *arguments)
    document = json.loads(found.stdout)
    assert list(Draft7Validator(UPSTREAM).iter_errors(document)) == []
    return found.returncode, {entry["code"]: entry["state"] for entry in document["diagnostics"]}


def warnings_of(path: Path, **options: Any) -> list[str]:
    _, events = run(path, **options)
    return [event.message or "" for event in events if (event.message or "").startswith("warning: ")]


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid"), reason="needs a file in the way")
def test_nothing_is_paid_that_cannot_be_kept(tmp_path: Path) -> None:
    path = paid_suite(tmp_path)
    (tmp_path / ".waza").write_text("")
    assert "Results cannot be written to" in refused(path)
    assert codes(path)[1]["results.place"] == "invalid"

    kept = engine("run", path, "-o", tmp_path / "out.json")
    assert kept.returncode == 0, "the results are kept where the author asks for them"
    assert (tmp_path / "asked").read_text() == "xx"


def test_a_tested_skill_that_is_not_found_is_said_once(tmp_path: Path) -> None:
    path = paid_suite(tmp_path)
    said = [warning for warning in warnings_of(path) if "the tested skill `writer` is not found" in warning]
    assert len(said) == 1
    assert "config.skill_directories" in said[0]
    assert codes(path)[1]["skill.tested"] == "unresolved"

    write_skill(tmp_path / "skills", "writer", "Writes.", "Write.")
    path.write_text(path.read_text().replace("config: {", "config: {skill_directories: [skills], "))
    assert not any("tested skill" in warning for warning in warnings_of(path))


def test_without_an_agent_no_skill_is_missed(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    assert warnings_of(path) == []
    assert codes(path) == (0, {})


@pytest.mark.parametrize(
    ("below", "code"),
    [
        ("context_dir: nowhere\ninstruction_files: [guide.md]\n", "instruction.file"),
        ("inputs: {prompt: x, files: [{path: gone.txt}]}\n", "resource.file"),
        ("inputs: {prompt: x, context: {fixture: gone}}\n", "context.fixture"),
        ("inputs: {prompt_file: gone.md}\n", "prompt.file"),
    ],
)
def test_a_file_of_a_task_that_is_missing_ends_a_run_that_costs(
    tmp_path: Path, below: str, code: str
) -> None:
    path = paid_suite(tmp_path)
    written = task("b").replace(
        "inputs: {prompt: Say hello}\n", "" if "inputs" in below else "inputs: {prompt: x}\n"
    )
    (tmp_path / "tasks" / "b.yaml").write_text(written + below)
    assert "b.yaml: " in refused(path)
    assert codes(path) == (
        1,
        {code: "invalid", "skill.tested": "unresolved", "runtime.availability": "unresolved"},
    )
    prepare(RunSettings(path, tasks=("a",)))


def test_each_thing_that_ends_a_run_is_a_line(tmp_path: Path) -> None:
    path = paid_suite(tmp_path)
    for name in ("a", "b"):
        (tmp_path / "tasks" / f"{name}.yaml").write_text(task(name) + f"instruction_files: [{name}.md]\n")
    lines = engine("run", path).stderr.splitlines()
    assert [name for line in lines for name in ("a.md", "b.md") if name in line] == ["a.md", "b.md"]
    assert sum("; add the file or correct its path." in line for line in lines) == 2


@pytest.mark.parametrize(
    ("parts", "said", "code"),
    [
        ({"graders": NO_PROGRAM}, "there is no such program", "grader.unavailable"),
        ({"graders": NO_SCRIPT}, "`python3` cannot run `gone/check.py`", "grader.unavailable"),
        (
            {"graders": NO_SCHEMA},
            "there is no schema `gone.json`; it is looked for at ",
            "grader.unavailable",
        ),
        ({"graders": NO_SKILL}, "there is no skill at `gone`", "grader.unavailable"),
        (
            {"below": at_checkpoint(NO_SCRIPT)},
            "after turn 1`: `python3` cannot run `gone/check.py`",
            "grader.unavailable",
        ),
        ({"graders": JUDGE}, "the executor `command` has no model to judge `judge`", "grader.judge"),
        (
            {"below": at_checkpoint(JUDGE)},
            "the executor `command` has no model to judge `judge after turn 1`",
            "grader.judge",
        ),
        ({"settings": "required_skills: [reader], "}, "`required_skills` names `reader`", "skill.required"),
    ],
)
def test_what_is_missing_ends_a_run_that_costs(
    tmp_path: Path, parts: dict[str, str], said: str, code: str
) -> None:
    path = paid_suite(tmp_path, **parts)
    assert said in refused(path)
    assert codes(path)[1][code] == "invalid"


def test_what_a_hook_may_make_ends_no_run(tmp_path: Path) -> None:
    path = paid_suite(tmp_path, NO_PROGRAM, more="hooks: {before_run: [{command: git --version}]}\n")
    prepare(RunSettings(path))
    assert codes(path)[1]["grader.unavailable"] == "unresolved"
    assert codes(path)[0] == 0
    assert codes(path, "--strict")[0] == 1


def test_a_free_run_tells_it_at_the_task(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=NO_PROGRAM)
    report, _ = run(path)
    assert report.outcome.tasks[0].status == "failed"
    assert codes(path) == (1, {"grader.unavailable": "invalid"})


def test_a_grader_of_the_suite_is_told_once_at_the_eval_file(tmp_path: Path) -> None:
    tasks = {"a": task("a"), "b": task("b", f"graders:\n{NO_SCRIPT}")}
    path = write_suite(tmp_path, tasks, graders=NO_PROGRAM.replace("checks", "missing"))
    found = preflight(RunSettings(path)).findings
    assert [(Path(each.source).name, each.message[:16]) for each in found] == [
        ("eval.yaml", "grader `missing`"),
        ("b.yaml", "grader `checks`:"),
    ]


def test_a_conversation_that_the_agent_cannot_go_on_with_is_not_begun(tmp_path: Path) -> None:
    path = paid_suite(tmp_path)
    asking = task("b", prompt="Hi, follow_up_prompts: [Go on]")
    (tmp_path / "tasks" / "b.yaml").write_text(asking, "utf-8")
    told = "`b` has several turns: the agent cannot continue its session; give `resume` in the adapter"
    assert told in refused(path)
    (found,) = [each for each in preflight(RunSettings(path)).findings if each.state == "invalid"]
    assert (found.code, found.task) == ("task.turns", "b")
    adapter = json.loads((tmp_path / "adapter.json").read_text("utf-8"))
    (tmp_path / "adapter.json").write_text(json.dumps({**adapter, "sessionMode": "iterative"}), "utf-8")
    assert prepare(RunSettings(path))


def test_a_free_run_warns_of_a_judge_that_cannot_judge(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=JUDGE, config=CONFIG)
    assert any("has no model to judge `judge`" in warning for warning in warnings_of(path))
    assert codes(path) == (1, {"grader.judge": "invalid"})


def test_of_two_graders_with_one_name_at_a_checkpoint_a_warning_tells(tmp_path: Path) -> None:
    below = at_checkpoint(GREETS.replace("hello", "nope"), GREETS)
    (told,) = warnings_of(write_suite(tmp_path, {"a": task("a", below)}))
    assert told.endswith(
        "a.yaml: checkpoint after turn 1: two graders are called `greets`; only the later one counts"
    )


def openai_suite(directory: Path, port: int, more: str = "") -> Path:
    provider = f"{{base_url: 'http://127.0.0.1:{port}/v1'{more}}}"
    config = f"{{trials_per_task: 1, timeout_seconds: 9, executor: openai, model: m, provider: {provider}}}"
    return write_suite(directory, {"a": task("a")}, graders=GREETS, config=f"config: {config}\n")


def test_a_provider_that_is_not_there_ends_the_run(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert f"nothing answers at `127.0.0.1:{port}`" in refused(openai_suite(tmp_path, port))
    assert codes(tmp_path / "eval.yaml")[1]["runtime.availability"] == "unresolved", "nobody is asked offline"


def test_a_key_that_is_refused_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "a-wrong-key")
    unauthorized = b"HTTP/1.1 401 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with hostile_peer(lambda _: [unauthorized]) as peer:
        port = int(peer.url.rpartition(":")[2])
        said = refused(openai_suite(tmp_path, port, ", api_key_env: MY_KEY"))
    assert f"`127.0.0.1:{port}` does not accept the key in `MY_KEY`" in said


REQUIRED = """
requirements:
- {id: r1, category: outcome, description: It greets., checks: [{scope: eval, grader: greets}]}
- {id: r2, category: boundary, description: Nothing is lost., checks: [{scope: task, grader: gone}]}
- {id: r3, category: quality, description: It is kind.}
"""


def test_a_suite_whose_tasks_are_all_switched_off_is_not_ready(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a", "enabled: false\n")}, graders=GREETS)
    (finding,) = preflight(RunSettings(suite)).findings
    assert (finding.severity, finding.message) == ("error", "every task is switched off by `enabled: false`")


def test_requirements_are_joined_with_their_graders(tmp_path: Path) -> None:
    path = write_suite(
        tmp_path, {"a": task("a", REQUIRED), "b": task("b", "enabled: false\n")}, graders=GREETS
    )
    document = json.loads(engine("preflight", path, "--format", "json").stdout)
    states = {entry["id"]: entry["state"] for entry in document["tasks"][0]["requirements"]}
    assert states == {"r1": "verified", "r2": "invalid", "r3": "unresolved"}
    assert [found["enabled"] for found in document["tasks"]] == [True, False]
    assert codes(path) == (1, {"requirement.check": "invalid", "requirement.uncovered": "unresolved"})


def test_requirements_that_make_no_sense_are_findings(tmp_path: Path) -> None:
    below = """\
        requirements:
          - {id: r, category: outcome, description: d, checks: [{scope: eval, grader: greets, after_turn: 1}]}
          - {id: r, category: outcome, description: d, checks: [{scope: eval, grader: greets}]}
    """
    path = write_suite(tmp_path, {"a": task("a", below)}, graders=GREETS)
    told = [found.message for found in preflight(RunSettings(path)).findings]
    assert told == [
        "the id `r` is of 2 requirements",
        "the requirement `r` has `after_turn` outside of a checkpoint",
    ]


def test_a_suite_that_cannot_be_read_is_a_finding_and_none_is_a_wrong_call(tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_text("config: 3\n")
    assert codes(tmp_path / "eval.yaml") == (1, {"eval.configuration": "invalid"})
    assert engine("preflight", tmp_path / "gone.yaml").returncode == 2
    assert engine("preflight", tmp_path / "eval.yaml", "--context-dir", tmp_path / "gone").returncode == 2


def test_people_read_lines_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=NO_PROGRAM)
    before = sorted(tmp_path.rglob("*"))
    found = stdout_of("preflight", path, code=1)
    assert "✗ grader.unavailable" in found
    assert "1 task, executor mock: 1 error, no warnings" in found
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_cannot_be_loaded_is_named_once(tmp_path: Path) -> None:
    eval_file = tmp_path / "eval.yaml"
    eval_file.write_text("name: n\nskill: s\ntasks: [tasks/*.yaml]\n", encoding="utf-8")
    (finding,) = preflight(RunSettings(eval_file)).findings
    assert finding.sentence == f"{eval_file}: line 1: `config` is missing; correct it"


@pytest.mark.parametrize("keys", [{"x-waza": {"output_mode": "text"}}, {"outputEvents": []}])
def test_what_only_skills_can_tell_is_not_asked_of_an_agent_that_shows_none(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    write_agent(tmp_path, "say(type='result', content='x')", **keys)
    grader = "- {type: skill_invocation, name: uses, config: {mode: any_order, required_skills: [writer]}}\n"
    path = write_suite(tmp_path, {"a": task("a")}, config=PAID, graders=GREETS + grader)
    with pytest.raises(SuiteError, match=r"`uses`.*reports no tool calls"):
        prepare(RunSettings(path))
    assert "skill.unseen" in [found.code for found in preflight(RunSettings(path)).findings]


def test_trigger_prompts_are_not_tried_on_an_agent_that_shows_no_skills(tmp_path: Path) -> None:
    write_agent(tmp_path, "print('x')", **{"x-waza": {"output_mode": "text"}})
    path = write_suite(tmp_path, {"a": task("a")}, config=PAID, graders=GREETS)
    write_prompts(tmp_path, "Write")
    with pytest.raises(SuiteError, match="the trigger prompts"):
        prepare(RunSettings(path))
    prepare(RunSettings(path, tasks=("a",)))


def test_fixtures_that_git_ignores_are_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def git(*arguments: str, at: Path) -> str:
        asked.append(arguments)
        return f"{at / 'fixtures' / 'app.log'}\n"

    monkeypatch.setattr(inspection, "git", git)
    for name in ("app.log", "app.py"):
        (tmp_path / "fixtures").mkdir(exist_ok=True)
        (tmp_path / "fixtures" / name).write_text("x")
    inputs = "inputs: {prompt: Go, files: [app.log, app.py]}\n"
    path = write_suite(tmp_path, {"a": f"id: a\n{inputs}", "b": f"id: b\n{inputs}"}, graders=GREETS)
    told = [each for each in prepare(RunSettings(path)).warnings if "git ignores" in each]
    assert len(told) == 1
    assert f"git ignores `{Path('fixtures', 'app.log')}`, so" in told[0]
    assert [len(arguments) for arguments in asked] == [4]
    with_hook = "hooks: {before_run: [{command: make}]}\n"
    path = write_suite(tmp_path, {"a": f"id: a\n{inputs}"}, graders=GREETS, more=with_hook)
    assert not any("git ignores" in each for each in prepare(RunSettings(path)).warnings)
