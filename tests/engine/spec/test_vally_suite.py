"""A Vally eval file as a suite: every grader has its counterpart or is refused, and verdicts are Vally's."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import waza_engine
from tests.engine.graders.grading import calls, folder, skills, usage
from tests.engine.suites import run
from waza_engine.commands.vally_reference import covering_test, markdown
from waza_engine.graders.base import GradingContext
from waza_engine.results.conclusion import conclude
from waza_engine.results.record import TrialOutcome
from waza_engine.runs.grading.graders import build_graders, grade
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import Suite, load_suite
from waza_engine.runs.settings.table import RunSettings
from waza_engine.schemas.vally_schemas import example_of
from waza_engine.scoring.task_scores import trial_status
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.vally.counterparts import COUNTERPARTS, as_pattern
from waza_engine.spec.vally.grader_options import GRADERS
from waza_engine.vocabulary import ToolCall


def written(folder: Path, text: str, name: str = "a.eval.yaml") -> Path:
    path = folder / name
    path.write_text(dedent(text), "utf-8")
    return path


def stimulus(graders: str, more: str = "") -> str:
    return f"stimuli:\n  - name: a\n    prompt: Go\n    graders:\n{indent(dedent(graders), '      ')}{more}"


def passes(suite: Suite, **context: Any) -> tuple[str, float]:
    """Return the status of a trial of the first task, and its score."""
    (task, *_) = suite.tasks
    assert task.task is not None
    graders, warnings = build_graders(task.task.graders)
    assert warnings == []
    found = list(grade(graders, GradingContext(**context), RunCancellation()))
    assert [verdict.feedback for verdict in found if verdict.feedback.startswith("Could not")] == []
    return trial_status([verdict.graded for verdict in found]), found[-1].score


WORKSPACE = {
    "src/app.ts": "const a = 1\n",
    "docs/deep/page.md": "# Title\nTODO\n",
    ".env": "x",
    "a[1].txt": "",
}
CALLS = (ToolCall("bash", {"command": "npm test"}), ToolCall("edit", {"path": "src/app.ts"}))
TRIAL: Mapping[str, Any] = {
    "output": "Deployed to Azure",
    "transcript": [
        {"type": "assistant.message", "content": "Working on it"},
        {"type": "tool.result", "content": "secret"},
        {"type": "assistant.message", "content": "Deployed to Azure"},
    ],
    "tool_calls": CALLS,
    "skill_invocations": skills("azure other"),
    "usage": usage(tokens=100, turns=3),
    "duration_ms": 5_000,
}
VERDICTS = [
    ("output-contains", "substring: DEPLOYED", "substring: working"),
    ("output-contains", "{value: Deployed, case_sensitive: true}", "{value: deployed, case_sensitive: true}"),
    ("output-contains", "{value: nothing, negate: true}", "{value: azure, negate: true}"),
    ("output-not-contains", "substring: working", "substring: azure"),
    ("output-not-contains", "{value: azure, negate: true}", "{value: working, negate: true}"),
    ("output-matches", "pattern: ^Deployed.*$", "pattern: ^deployed"),
    ("output-matches", "pattern: (?i)^deployed", "pattern: Azure.+"),
    ("output-matches", "pattern: 'D(?=eployed)'", "pattern: 'D(?!eployed)'"),
    ("output-matches", r"pattern: '(?<a>e).*\k<a>?[^]'", r"pattern: '(?<a>x).*\k<a>'"),
    ("output-not-matches", "pattern: ^deployed", "pattern: ^Deployed"),
    ("transcript-contains", "substring: WORKING", "substring: secret"),
    (
        "transcript-contains",
        "{value: Working, case_sensitive: true}",
        "{value: wORKING, case_sensitive: true}",
    ),
    ("transcript-not-contains", "substring: secret", "substring: working"),
    ("transcript-matches", "pattern: (?i)^working", "pattern: ^working"),
    ("transcript-not-matches", "pattern: secret", "pattern: Work"),
    ("file-exists", "path: 'src/**/*.ts'", "path: '**/*.py'"),
    ("file-exists", "path: '*.{md,env}'", "path: 'src/*.{js,py}'"),
    ("file-exists", "path: 'a[1].txt'", "path: 'a[12].txt'"),
    ("file-not-exists", "path: '*.ts'", "path: '**/*.ts'"),
    ("file-contains", "{path: '**/*.md', value: TODO}", "{path: '**/*.md', value: todo}"),
    ("file-contains", "{path: src/app.ts, value: '= 1'}", "{path: src/app.ts, value: '. 1'}"),
    ("file-not-contains", "{path: '**/*.md', value: FIXME}", "{path: '**/*.md', value: TODO}"),
    ("file-not-contains", "{path: '*.rst', value: TODO}", "{path: '**', value: TODO}"),
    ("file-matches", "{path: '**/page.??', pattern: '(?m)^TODO$'}", "{path: '*.md', pattern: TODO}"),
    ("file-not-matches", "{path: 'src/*', pattern: TODO}", "{path: 'src/*', pattern: const}"),
    ("tool-calls", "{required: [^bash$, ed.t]}", "{required: [^bash$, create]}"),
    ("tool-calls", "{disallowed: [create]}", "{disallowed: [create, {name: bash, command: npm}]}"),
    ("tool-calls", "{required: [{name: edit, path: \\.ts$}]}", "{required: [{name: edit, path: \\.js$}]}"),
    (
        "tool-calls",
        "{required: [{name: bash, args: {command: test$}}]}",
        "{required: [{name: ., args: {x: y}}]}",
    ),
    ("skill-invocation", "{required: [azure]}", "{required: [azure, absent]}"),
    ("skill-invocation", "{required: [azure], disallowed: [absent]}", "{disallowed: [other]}"),
    ("run-command", "{command: cat, args: [src/app.ts]}", "{command: cat, args: [no such]}"),
    ("run-command", "{command: test -f src/app.ts}", "{command: test -f app.ts}"),
    ("run-command", "{command: test -f app.ts, sub_path: src}", "{command: 'true', sub_path: gone}"),
    (
        "run-command",
        "{command: sh, args: [-c, exit 3], expected_exit_code: 3}",
        "{command: sh, args: [-c, exit 3]}",
    ),
    ("run-command", '{command: \'test "$A" = "b c"\', env: {A: b c}}', "{command: 'test -n \"$A\"'}"),
    ("token-budget", "max: 100", "max: 99"),
    ("tool-call-count", "max: 2", "max: 1"),
    ("turn-count", "max: 3", "max: 2"),
    ("wall-time", "max: 5s", "max: 4900ms"),
]


@pytest.mark.parametrize(("keyword", "good", "bad"), VERDICTS)
def test_a_counterpart_gives_the_same_verdict_and_scores_one_or_zero(
    tmp_path: Path, keyword: str, good: str, bad: str
) -> None:
    workspace = folder(tmp_path / "workspace", WORKSPACE)
    for options, expected in ((good, ("passed", 1.0)), (bad, ("failed", 0.0))):
        text = stimulus(
            f"- type: {keyword}\n  config: {options if options[0] == '{' else f'{{{options}}}'}\n"
        )
        assert passes(load_suite(written(tmp_path, text)), **TRIAL, workspace=workspace) == expected, options


def test_an_answer_without_errors_is_needed(tmp_path: Path) -> None:
    fault = {"type": "session.error", "message": "lost"}
    for options, answered, empty, broken in (
        ("exit-success", "passed", "failed", "passed"),
        ("completed", "passed", "failed", "failed"),
        ("error-count, config: {max: 0}", "passed", "passed", "failed"),
        ("error-count, config: {max: 1}", "passed", "passed", "passed"),
    ):
        suite = load_suite(written(tmp_path, stimulus(f"- {{type: {options}}}\n")))
        assert passes(suite, output="Done")[0] == answered
        assert passes(suite, output=" \n")[0] == empty
        assert passes(suite, output="Done", transcript=[fault])[0] == broken, options


def test_the_page_is_what_the_tables_say() -> None:
    page = (Path(waza_engine.__file__).parents[1] / "docs" / "vally.md").read_text("utf-8")
    assert page == markdown(), "run `make schemas`"
    assert {covering_test(keyword) for keyword in GRADERS} <= globals().keys()


def test_every_counterpart_has_a_case() -> None:
    judged = {"prompt"}
    errors = {"error-count", "completed", "exit-success"}
    assert {keyword for keyword, *_ in VERDICTS} | judged | errors == COUNTERPARTS.keys()


@pytest.mark.parametrize("keyword", sorted(GRADERS.keys() - COUNTERPARTS.keys()))
def test_graders_without_a_counterpart_are_named_before_anything_runs(tmp_path: Path, keyword: str) -> None:
    path = written(tmp_path, stimulus(f"{example_of(keyword)}\n"))
    with pytest.raises(SuiteFileError) as error:
        load_suite(path)
    assert f"`{keyword}` (grader `{keyword}-1` of `a`)" in error.value.message
    assert error.value.line == 5


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("type: tool-calls, config: {sequence: [a, b]}", "`sequence` in `tool-calls`"),
        ("type: tool-calls, config: {required: [{name: a, min_count: 2}]}", "`min_count` in `tool-calls`"),
        ("type: run-command, config: {command: a, stdout_contains: b}", "`stdout_contains` in"),
        ("type: prompt, config: {evidence: [diff]}", "the evidence `diff` in `prompt`"),
        ("type: token-budget, config: {max: 0}", "`max: 0` in `token-budget`"),
        ("type: tool-call-count, config: {max: 1, tools: [a]}", "`tools` in `tool-call-count`"),
        ("type: my-plugin, name: x", "`my-plugin` (grader `x` of `a`)"),
    ],
)
def test_options_without_a_counterpart_are_named(tmp_path: Path, options: str, named: str) -> None:
    with pytest.raises(SuiteFileError) as error:
        load_suite(written(tmp_path, stimulus(f"- {{{options}}}\n")))
    assert named in error.value.message


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("    runs: 3\n", "`runs` of `a`"),
        ("    config: {model: gpt-5}\n", "`config.model` of `a`"),
        ("    simulation: {tool_overrides: {}}\n", "`simulation` of `a`"),
        ("    attachments: [x.png]\n", "`attachments` of `a`"),
        ("    environment: {commands: [npm ci]}\n", "`environment.commands`"),
        ("    environment: {git: {type: worktree}}\n", "`environment.git`"),
        ("    environment: unknown\n", "no environment `unknown`"),
    ],
)
def test_settings_without_a_counterpart_are_named(tmp_path: Path, more: str, named: str) -> None:
    with pytest.raises(SuiteFileError) as error:
        load_suite(written(tmp_path, stimulus("- type: completed\n", more)))
    assert named in error.value.message


def test_a_mistake_in_the_options_is_reported_at_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, stimulus("- type: output-matches\n  config:\n    pattern: [a]\n"))
    with pytest.raises(SuiteFileError) as error:
        load_suite(path)
    assert error.value.line == 7


FILE = """\
    name: docs
    config: {runs: 3, timeout: 90s, model: m, judge_model: j, executor: {name: mock}}
    environment: docs
    tags: {team: x}
    graders: [{type: completed, name: Done}]
    stimuli:
      - name: Writes a page!
        turns: [Write, prompt: More]
        tags: {area: [a, b], slow: false}
        timeout: 100ms
        environment: {skills: [skills/more/SKILL.md], files: [{src: a.md, dest: docs/a.md}]}
        rubric: [Names the case, Is short]
        constraints: {max_tool_calls: 3, expect_tools: ["*"], reject_skills: ["*"], expect_skills: [x]}
        expect_activation: true
        graders:
          - {type: completed, name: Done, turn: 0}
          - {type: prompt, config: {prompt: Is it good?, threshold: 0.75}}
          - {type: prompt, required: true, config: {scoring: binary, model: g}}
    """
PROJECT = (
    "environments: {docs: {skills: [skills/docs], files: [{src: data}], mcpServers: {m: {url: http://x}}}}"
)


def test_a_file_becomes_a_suite(tmp_path: Path) -> None:
    (tmp_path / ".vally.yaml").write_text(PROJECT)
    suite = load_suite(written(tmp_path, FILE))
    config = suite.spec.config
    assert (config.trials_per_task, config.timeout_seconds, config.executor) == (3, 90, "mock")
    assert (config.model, config.judge_model, config.pass_score) == ("m", "j", None)
    assert (suite.spec.skill, config.skill_directories) == ("docs", ("skills/docs",))
    assert config.mcp_servers == {"m": {"url": "http://x"}}
    (found,) = suite.tasks
    assert (found.id, found.name, found.path.name) == ("writes-a-page", "Writes a page!", "a.eval.yaml")
    task = found.task
    assert task is not None
    assert task.tags == ("team:x", "area:a", "area:b", "slow:false")
    assert (task.timeout_seconds, task.skill_directories) == (1, ("skills/docs", "skills/more"))
    assert (task.inputs.prompt, task.inputs.follow_up_prompts) == ("Write", ("More",))
    assert [(each.path, each.copy_from) for each in task.inputs.files if not isinstance(each, str)] == [
        ("data", "data"),
        ("docs/a.md", "a.md"),
    ]
    assert [(each.name, each.type, each.required, each.binary) for each in task.graders] == [
        ("Done", "code", True, True),
        ("prompt", "prompt", True, False),
        ("prompt-2", "prompt", True, False),
        ("tool-call-count", "tool_calls", True, True),
        ("tool-calls", "tool_constraint", True, True),
        ("skill-invocation", "skill_invocation", True, True),
        ("tool-calls-2", "tool_constraint", True, True),
        ("skill-invocation-2", "skill_invocation", True, True),
        ("verdict", "score", True, False),
    ]
    rating, verdicts = task.graders[1].config, task.graders[2].config
    assert rating["threshold"] == 0.75
    assert rating["rubric"].endswith("Is it good?\n- Names the case\n- Is short")
    assert verdicts["prompt"].startswith("- Names the case\n- Is short\n\nCall set_waza_grade_pass")
    (checkpoint,) = task.checkpoints
    assert (checkpoint.after_turn, [each.name for each in checkpoint.graders]) == (1, ["Done-2"])


Graded = tuple[str, bool]
TYPES = ["output-contains", "output-matches", "completed", "exit-success"]


@given(
    graders=st.lists(st.tuples(st.sampled_from(TYPES[:2]), st.booleans()), min_size=1, max_size=6),
    weights=st.none() | st.fixed_dictionaries({name: st.integers(0, 4) for name in TYPES[:2]}),
    threshold=st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.8, 1.0]),
)
def test_a_trial_passes_by_the_rules_of_vally(
    tmp_path_factory: pytest.TempPathFactory,
    graders: list[Graded],
    weights: dict[str, int] | None,
    threshold: float | None,
) -> None:
    """Every grader passes or, with a threshold, the sum of weight times score reaches it."""
    if weights is not None and not sum(weights[keyword] for keyword, _ in graders):
        weights = {**weights, graders[0][0]: 1}
    key = {"output-contains": "substring", "output-matches": "pattern"}
    listed = "".join(
        f"- {{type: {keyword}, config: {{{key[keyword]}: {'yes' if good else 'no'}}}}}\n"
        for keyword, good in graders
    )
    scoring = {"weights": weights, "threshold": threshold}
    head = "".join(f"  {name}: {value}\n" for name, value in scoring.items() if value is not None)
    text = (f"scoring:\n{head}" if head else "") + stimulus(listed)
    status, score = passes(load_suite(written(tmp_path_factory.mktemp("v"), text)), output="yes")
    count = {keyword: sum(each == keyword for each, _ in graders) for keyword, _ in graders}
    shares = [1.0 if weights is None else weights[keyword] / count[keyword] for keyword, _ in graders]
    expected = sum(s for s, (_, good) in zip(shares, graders, strict=True) if good) / sum(shares)
    assert score == pytest.approx(expected, abs=1e-6)
    reached = expected >= threshold - 1e-6 if threshold is not None else all(good for _, good in graders)
    assert status == ("passed" if reached else "failed")


def test_a_required_grader_fails_a_trial_that_reaches_the_threshold(tmp_path: Path) -> None:
    text = stimulus(
        "- {type: output-contains, config: {substring: yes}}\n"
        "- {type: output-contains, required: true, config: {substring: no}}\n"
    )
    suite = load_suite(written(tmp_path, f"scoring: {{threshold: 0.5}}\n{text}"))
    assert passes(suite, output="yes") == ("failed", 0.5)


def test_a_grader_in_error_is_neither_a_pass_nor_a_fail(tmp_path: Path) -> None:
    text = stimulus("- {type: prompt}\n- {type: output-contains, config: {substring: absent}}\n")
    for head in ("", "scoring: {threshold: 0.1}\n"):
        path = written(tmp_path, f"defaults: {{executor: mock}}\n{head}{text}")
        suite = load_suite(path)
        (task,) = suite.tasks
        assert task.task is not None
        graders, _ = build_graders(task.task.graders)
        found = list(grade(graders, GradingContext(output="Hello"), RunCancellation()))
        assert [verdict.status for verdict in found] == ["error", "graded", "error"]
        assert trial_status([verdict.graded for verdict in found]) == "error"
        # A threshold alone makes single graders advisory.
        shown = [verdict.shown_status for verdict in found]
        assert shown == (["advisory", "advisory", "error"] if head else ["error", "graded", "error"])


RUNS = """\
    defaults: {{executor: mock, runs: 2}}
    scoring: {{threshold: {threshold}}}
    stimuli:
      - name: good
        prompt: Say hello
        graders: [{{type: output-contains, config: {{substring: hello}}}}]
      - name: half
        prompt: Say hello
        graders:
          - {{type: output-contains, config: {{substring: hello}}}}
          - {{type: output-contains, config: {{substring: absent}}}}
    """


@pytest.mark.parametrize(("threshold", "verdict"), [(0.7, "passed"), (0.75, "passed"), (0.8, "failed")])
def test_with_a_threshold_a_run_passes_by_its_score_alone(
    tmp_path: Path, threshold: float, verdict: str
) -> None:
    path = written(tmp_path, RUNS.format(threshold=threshold))
    report, _ = run(path)
    found = conclude(report.outcome)
    assert (found.verdict, found.score) == (verdict, pytest.approx(0.75, abs=1e-6))
    assert [(task.id, task.verdict) for task in found.tasks] == [("good", "passed"), ("half", "failed")]


def test_without_a_threshold_every_trial_must_pass_and_files_lie_where_they_belong(tmp_path: Path) -> None:
    folder(tmp_path, {"data/deep/a.txt": "hello", "one.md": "# One"})
    text = """\
        defaults: {executor: mock}
        environment: {files: [{src: data, dest: .}, {src: one.md, dest: docs/two.md}]}
        stimuli:
          - name: a
            prompt: Go
            graders:
              - {type: file-contains, config: {path: deep/a.txt, value: hello}}
              - {type: file-matches, config: {path: "docs/*.md", pattern: ^# One}}
              - {type: file-not-exists, config: {path: "**/one.md"}}
        """
    report, _ = run(written(tmp_path, text))
    assert conclude(report.outcome).verdict == "passed"
    trials: list[TrialOutcome] = [trial for task in report.outcome.tasks for trial in task.trials]
    assert [list(trial.validations or {}) for trial in trials] == [
        ["file-contains", "file-matches", "file-not-exists", "verdict"]
    ]


@pytest.mark.parametrize(
    ("javascript", "ours"),
    [(r"a[^]b", r"a[\s\S]b"), (r"(?<n>a)\k<n>", r"(?P<n>a)(?P=n)"), (r"a\/b", "a/b"), (r"\\/", r"\\/")],
)
def test_forms_that_only_javascript_has(javascript: str, ours: str) -> None:
    assert as_pattern(javascript) == ours


def test_a_run_is_settled_by_options_as_any_other(tmp_path: Path) -> None:
    path = written(tmp_path, RUNS.format(threshold=0.8).replace("mock", "copilot-sdk"))
    report, _ = run(path, executor="mock", trials=1, tasks=("good",))
    assert RunSettings(path).trials is None
    assert conclude(report.outcome).verdict == "passed"
    assert calls("a") == (ToolCall("a"),)


def test_keys_without_effect_are_named_as_those_of_other_files(tmp_path: Path) -> None:
    graders = "- type: output-contains\n  requried: true\n  config: {substring: a, casesensitive: true}\n"
    more = "    constraints: {max_tokns: 1, expect_skils: [a]}\nscoring: {treshold: 1}\n"
    _, warnings = load_eval_file(written(tmp_path, stimulus(graders, more)))
    place, limits = "`stimuli[0].graders[0]", "`stimuli[0].constraints"
    assert [f"{each.line}: {each.message}" for each in warnings] == [
        f"6: {place}.requried` is not a known key and has no effect; write `required`",
        f"8: {limits}.max_tokns` is not a known key and has no effect; write `max_tokens`",
        f"8: {limits}.expect_skils` is not a known key and has no effect; write `expect_skills`",
        "9: `scoring.treshold` is not a known key and has no effect; write `threshold`",
        f"7: {place}.config`: `casesensitive` is not an option here and has no effect",
    ]


@pytest.mark.parametrize("root", [True, False])
def test_misspelt_graders_are_refused(tmp_path: Path, root: bool) -> None:
    text = stimulus("- type: completed\n")
    text = f"grader: []\n{text}" if root else text.replace("graders:", "grader:")
    with pytest.raises(SuiteFileError, match="so the run has none of these graders; write `graders`"):
        load_eval_file(written(tmp_path, text))


def test_names_with_one_slug_have_different_ids(tmp_path: Path) -> None:
    named = "".join(f"  - {{name: {name}, prompt: Go}}\n" for name in ("a/b", "a-b", "A b", "c"))
    suite = load_suite(written(tmp_path, f"graders: [{{type: completed}}]\nstimuli:\n{named}"))
    assert [(task.id, task.name) for task in suite.tasks] == [
        ("a-b", "a/b"),
        ("a-b-2", "a-b"),
        ("a-b-3", "A b"),
        ("c", "c"),
    ]


@pytest.mark.parametrize("more", ["", ", graders: []", ", constraints: {}", ", rubric: [It is short.]"])
def test_a_stimulus_that_nothing_checks_is_refused(tmp_path: Path, more: str) -> None:
    text = (
        f"stimuli:\n  - {{name: a, prompt: Go, expect_activation: true}}\n  - {{name: b, prompt: Go{more}}}\n"
    )
    with pytest.raises(SuiteFileError, match="yaml:3: nothing checks the stimulus `b`; give it a grader or"):
        load_eval_file(written(tmp_path, text))


@pytest.mark.parametrize(
    ("stimuli", "message"), [("[]", "must not be empty"), ("[a]", r"\[0\]` must be a block of keys")]
)
def test_a_file_named_as_those_of_vally_is_read_as_one(tmp_path: Path, stimuli: str, message: str) -> None:
    with pytest.raises(SuiteFileError, match=f"`stimuli.*{message}"):
        load_eval_file(written(tmp_path, f"stimuli: {stimuli}\n"))
