"""``evals.json`` and trigger lists run as suites: a case is a task, its assertions are graders."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import waza_engine
from tests.conftest import StartModel
from tests.engine.graders.grading import folder
from tests.engine.runs.agents import Agent, tried_prompts
from tests.engine.suites import only_task, present, run, verdicts
from tests.scripted_model import Answer, ModelRequest, Reply, call
from waza_engine.commands.github_output import SuiteLocations
from waza_engine.commands.grade import grade_command
from waza_engine.commands.preflight import preflight
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.graders.base import GradingContext
from waza_engine.results.codec.run_documents import run_document, run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.record import TriggerOutcome
from waza_engine.runs.choosing import estimate_run
from waza_engine.runs.grading.graders import build_graders, grade
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.runs.preparing import prepare
from waza_engine.runs.regrading.regrade import RegradeRequest
from waza_engine.runs.settings.table import RunSettings
from waza_engine.scoring.task_scores import trial_status
from waza_engine.vocabulary import SkillInvocation

SAYS = {"type": "content", "name": "says", "pattern": "(?i)brew"}
NEVER = {"type": "must_not", "pattern": "coffee"}


def skill_with(tmp_path: Path, *cases: dict[str, Any]) -> Path:
    """Write a skill with these cases, and return its ``evals.json``."""
    folder = tmp_path / "skills" / "tea"
    (folder / "evals" / "files").mkdir(parents=True, exist_ok=True)
    (tmp_path / ".git").mkdir(exist_ok=True)
    (folder / "SKILL.md").write_text("---\nname: tea\ndescription: Brews tea.\n---\nUse green leaves.\n")
    (folder / "evals" / "files" / "leaves.csv").write_text("kind,grams\n")
    path = folder / "evals" / "evals.json"
    numbered = [{"id": number, "prompt": "Brew tea", **case} for number, case in enumerate(cases, 1)]
    path.write_text(json.dumps({"skill_name": "tea", "evals": numbered}), "utf-8")
    return path


def test_a_case_is_a_task_and_typed_assertions_need_no_judge(tmp_path: Path) -> None:
    path = skill_with(
        tmp_path, {"assertions": [SAYS, NEVER]}, {"id": "no", "prompt": "coffee", "assertions": [NEVER]}
    )
    report, _ = run(path)
    found = conclude(report.outcome)
    assert [(task.id, task.verdict) for task in found.tasks] == [("1", "passed"), ("no", "failed")]
    validations = present(report.outcome.tasks[0].trials[0].validations)
    assert {name: verdict.type for name, verdict in validations.items()} == {
        "says": "text",
        "assertion-2": "text",
    }
    assert report.outcome.header.skill == "tea"


FORMS = [
    ("content", {"pattern": "(?i)total: [0-9]"}, {"pattern": "total"}),
    ("content", {"pattern": "^# Sum", "path": "out/a.md"}, {"pattern": "Total", "path": "out/a.md"}),
    ("must_not", {"pattern": "total"}, {"pattern": "Total"}),
    ("must_not", {"pattern": "Total", "path": "out/a.md"}, {"pattern": "Sum", "path": "out/a.md"}),
    ("must_not", {"pattern": "x", "path": "out/a.md"}, {"pattern": "x", "path": "out/gone.md"}),
    ("file_exists", {"path": "out/a.md"}, {"path": "out/*.md"}),
]


@pytest.mark.parametrize(("form", "good", "bad"), FORMS)
def test_a_typed_assertion_has_its_verdict(
    tmp_path: Path, form: str, good: dict[str, str], bad: dict[str, str]
) -> None:
    workspace = folder(tmp_path / "workspace", {"out/a.md": "# Sum\n"})
    for options, expected in ((good, "passed"), (bad, "failed")):
        suite = load_suite(skill_with(tmp_path, {"assertions": [{"type": form, **options}]}))
        (task,) = suite.tasks
        graders, _ = build_graders(present(task.task).graders)
        context = GradingContext(output="Total: 3", workspace=workspace)
        found = [verdict.graded for verdict in grade(graders, context, RunCancellation())]
        assert trial_status(found) == expected, options


def test_the_table_of_assertions_names_tests_that_exist() -> None:
    page = (Path(waza_engine.__file__).parents[1] / "docs" / "skill-evals.md").read_text("utf-8")
    named = re.findall(r"`(test_\w+)` \|", page)
    assert len(named) == 4
    assert set(named) <= globals().keys()


@pytest.mark.parametrize("written", ["evals/files/leaves.csv", "files/leaves.csv"])
def test_input_files_are_found_from_the_skill_and_beside_the_file(tmp_path: Path, written: str) -> None:
    checks = [
        {"type": "file_exists", "path": written},
        {"type": "content", "path": written, "pattern": "^kind,"},
        {"type": "must_not", "path": written, "pattern": "coffee"},
    ]
    report, _ = run(skill_with(tmp_path, {"files": [written], "assertions": checks}))
    assert {name: verdict.passed for name, verdict in verdicts(report).items()} == {
        f"assertion-{number}": True for number in (1, 2, 3)
    }


def test_a_file_may_carry_its_content(tmp_path: Path) -> None:
    check = {"type": "content", "path": "a/b.txt", "pattern": "^x$"}
    files = [{"path": "a/b.txt", "content": "x"}]
    report, _ = run(skill_with(tmp_path, {"files": files, "assertions": [check]}))
    assert only_task(report).status == "passed"


def test_a_missing_file_is_reported_before_anything_is_paid(tmp_path: Path, model_of: Any) -> None:
    path = skill_with(tmp_path, {"files": ["files/none.csv"], "assertions": [SAYS]})
    model = model_of()
    with pytest.raises(SuiteError, match=r"files/none\.csv"):
        prepare(RunSettings(path, executor="openai", model="small"))
    assert model.requests == []


@pytest.mark.parametrize("written", ["files/none.csv", "files/*", "~/.bashrc", "file:///etc/hosts", "none/"])
def test_a_case_without_its_file_is_in_error(tmp_path: Path, written: str) -> None:
    report, _ = run(skill_with(tmp_path, {"files": [written], "assertions": [NEVER]}))
    assert conclude(report.outcome).tasks[0].verdict == "errored"


def test_a_folder_is_copied_with_its_files(tmp_path: Path) -> None:
    check = {"type": "file_exists", "path": "files/leaves.csv"}
    report, _ = run(skill_with(tmp_path, {"files": ["files"], "assertions": [check]}))
    assert only_task(report).status == "passed"


def decides(*passed: bool) -> Answer:
    results = [{"number": each, "passed": ok, "evidence": f"E{each}"} for each, ok in enumerate(passed, 1)]
    return Answer(calls=(call("report_criteria", results=results),))


def is_judge(request: ModelRequest) -> bool:
    return "report_criteria" in request.tool_names


@pytest.fixture
def model_of(monkeypatch: pytest.MonkeyPatch, scripted_model: StartModel) -> Any:
    """Return a function that starts a model for agent and judge, at the address of the environment."""

    def start(*passed: bool) -> Any:
        def answer(request: ModelRequest) -> Reply:
            if not is_judge(request):
                return "green tea" if "green leaves" in request.system else "tea"
            return "Done." if request.messages[-1]["role"] == "tool" else decides(*passed)

        model = scripted_model(answer)
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        return model

    return start


CASE = {
    "expected_output": "A cup of tea.",
    "assertions": ["It is hot.", SAYS],
    "expectations": ["It is green."],
}


def test_one_call_judges_all_sentences_of_a_case_with_evidence(tmp_path: Path, model_of: Any) -> None:
    model = model_of(True, False)
    path = skill_with(tmp_path, CASE)
    report, _ = run(path, executor="openai", model="small", judge_model="large")
    questions = [request for request in model.requests if is_judge(request)]
    assert len({request.prompt for request in questions}) == 1
    assert {request.model for request in questions} == {"large"}
    assert "A cup of tea." in questions[0].prompt
    found = verdicts(report)
    assert list(found) == ["assertions", "says"]
    assert (found["assertions"].score, found["assertions"].passed) == (0.5, False)
    assert found["assertions"].details["criteria"] == [
        {"text": "It is hot.", "passed": True, "evidence": "E1"},
        {"text": "It is green.", "passed": False, "evidence": "E2"},
    ]


def test_without_assertions_the_expected_output_is_judged(tmp_path: Path, model_of: Any) -> None:
    model_of(True)
    report, _ = run(skill_with(tmp_path, {"expected_output": "A cup."}), executor="openai", model="small")
    assert only_task(report).status == "passed"
    (result,) = verdicts(report)["assertions"].details["criteria"]
    assert result["text"] == "The result is as described under “Expected result”."


def test_the_baseline_runs_without_the_skill(tmp_path: Path, model_of: Any) -> None:
    model_of()
    green = {"type": "content", "pattern": "green"}
    report, _ = run(
        skill_with(tmp_path, {"assertions": [green]}), executor="openai", model="small", baseline=True
    )
    impact = present(report.outcome.tasks[0].impact)
    assert impact.delta == 1.0


def test_sentences_without_a_judge_are_never_green(tmp_path: Path, model_of: Any) -> None:
    path = skill_with(tmp_path, {"assertions": ["It is hot."]})
    report, _ = run(path)
    found = conclude(report.outcome)
    assert (found.good, found.tasks[0].verdict) == (False, "errored")
    (warning,) = prepare(RunSettings(path)).warnings
    assert "has no model to judge `assertions`" in warning
    model = model_of()
    with pytest.raises(SuiteError, match="has no model, so it cannot judge"):
        prepare(RunSettings(path, executor="openai", model="small", judge_executor="mock"))
    assert model.requests == []


def test_a_record_is_graded_again_with_the_current_assertions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = skill_with(tmp_path, {"assertions": [SAYS]})
    run(path)
    skill_with(tmp_path, {"assertions": [{**SAYS, "pattern": "cocoa"}]})
    assert grade_command([path], RegradeRequest(path), None, "text") == 1
    assert "cocoa" in capsys.readouterr().out


def test_annotations_name_the_line_of_the_case_and_of_the_prompt(tmp_path: Path) -> None:
    path = skill_with(tmp_path, {"assertions": [SAYS]}, {"assertions": [NEVER]})
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")), indent=1), "utf-8")
    place = SuiteLocations(path, "evals.json").of("2", "assertion-1")
    assert place.line == path.read_text("utf-8").split("\n").index('   "id": 2,')
    listed = trigger_list(tmp_path)
    listed.write_text(json.dumps(TRIGGERS, indent=0), "utf-8")
    places = SuiteLocations(listed, "triggers.json")
    assert places.of_prompt("Add numbers", should_trigger=False).line == 6


def test_cases_are_selected_by_id_name_and_case_set(tmp_path: Path) -> None:
    path = skill_with(
        tmp_path,
        {"assertions": [SAYS], "case_set": "train"},
        {"assertions": [SAYS], "slug": "second", "tags": ["smoke"]},
    )
    assert [task.id for task in run(path, tasks=("second",))[0].outcome.tasks] == ["2"]
    assert [task.id for task in run(path, tags=("train",))[0].outcome.tasks] == ["1"]
    assert [task.id for task in run(path, tags=("smoke",))[0].outcome.tasks] == ["2"]


TRIGGERS = [{"query": "Brew tea", "should_trigger": True}, {"query": "Add numbers", "should_trigger": False}]


def trigger_list(tmp_path: Path, document: object = TRIGGERS) -> Path:
    path = skill_with(tmp_path, {"assertions": [SAYS]}).with_name("triggers.json")
    path.write_text(json.dumps(document), "utf-8")
    return path


def outcomes(path: Path, loads: list[bool | ExecutorError]) -> list[TriggerOutcome]:
    """Ask each prompt three times; the agent loads the skill as ``loads`` says, in order."""
    waiting = list(loads)

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        del request
        loaded = waiting.pop(0)
        if isinstance(loaded, ExecutorError):
            raise loaded
        return ExecutionResponse("ok", skill_invocations=[SkillInvocation("tea")] if loaded else [])

    return tried_prompts(path, Agent(answer), repetitions=3)


@pytest.mark.parametrize(
    ("loads", "did"),
    [
        ([True, True, False, False, False, False], [True, False]),
        ([True, False, False, True, True, False], [False, True]),
    ],
)
def test_at_least_half_of_the_repetitions_decide(tmp_path: Path, loads: list[Any], did: list[bool]) -> None:
    found = outcomes(trigger_list(tmp_path), loads)
    assert [each.did_trigger for each in found] == did
    assert [(each.triggered, each.asked) for each in found] == [(sum(loads[:3]), 3), (sum(loads[3:]), 3)]


def test_a_repetition_that_could_not_be_tried_is_an_error(tmp_path: Path) -> None:
    (first, _) = outcomes(trigger_list(tmp_path), [True, ExecutorError("no answer"), True, *[False] * 3])
    assert (first.error, first.did_trigger) == ("no answer", False)


def test_a_trigger_list_runs_and_keeps_its_repetitions(tmp_path: Path) -> None:
    report, _ = run(trigger_list(tmp_path))
    found = conclude(report.outcome)
    assert (found.verdict, found.tasks) == ("passed", ())
    read = run_of(run_document(report.outcome))
    assert [(each.asked, each.triggered) for each in read.triggers] == [(3, 3), (3, 0)]
    assert run(trigger_list(tmp_path), trials=1)[0].outcome.triggers[0].asked == 1
    named = {"skill_name": "other", "evals": [{"prompt": "p", "should_trigger": False}]}
    assert run(trigger_list(tmp_path, named))[0].outcome.header.skill == "other"


def test_preflight_and_estimates_count_the_prompts_of_a_list(tmp_path: Path) -> None:
    path = trigger_list(tmp_path)
    assert preflight(RunSettings(path)).findings == []
    assert estimate_run(RunSettings(path)).run.prompts == 6


def test_a_misclassified_prompt_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripted_model: StartModel
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", scripted_model(lambda _: "no skill").base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    report, _ = run(trigger_list(tmp_path), executor="openai", model="small")
    found = conclude(report.outcome)
    assert (found.verdict, found.exit_code) == ("failed", 1)
    assert "trigger_accuracy is 0.50, below 1" in found.words
