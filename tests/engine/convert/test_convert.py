"""Conversions between waza, ``evals.json`` and Vally: the new files, their losses, and their age."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.runs.test_skill_evals import NEVER, SAYS, TRIGGERS, skill_with
from tests.engine.suites import GREETS, run, task, write_suite
from waza_engine.commands.convert import check_command, convert_command
from waza_engine.convert.conversion import ConversionError
from waza_engine.convert.convert import convert, write_conversion
from waza_engine.results.conclusion import conclude
from waza_engine.vocabulary import Target
from waza_language_server.check import check_paths


def converted(source: Path, target: Target | None, directory: Path) -> list[str]:
    """Convert, check that the new files have no error or warning, and return the losses."""
    conversion = convert(source, target, directory)
    write_conversion(conversion, force=False)
    for report in check_paths([directory]):
        bad = [found for found in report.findings if found.severity in ("error", "warning")]
        assert not bad, (report.path, bad)
    return [f"{loss.kind}: {loss.place}: {loss.why}" for loss in conversion.losses]


def command(source: Path, directory: Path, target: Target | None = None, **options: bool) -> int:
    chosen: dict[str, Any] = {"strict": False, "force": False, "as_json": False, **options}
    return convert_command(source, target, directory, **chosen)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


CASE = {"expected_output": "Tea.", "assertions": ["It is hot.", SAYS, NEVER], "files": ["files/leaves.csv"]}


def test_evals_json_becomes_a_suite_with_the_same_verdicts(repository: Path) -> None:
    path = skill_with(repository, CASE, {"id": "b", "prompt": "coffee", "assertions": [NEVER]})
    losses = converted(path, None, repository / "out")
    assert losses == ["upstream: evals.json: graders: upstream waza does not read `criteria`"]
    one = read(repository / "out" / "tasks" / "1.yaml")
    assert one["context_dir"] == "../skills/tea/evals"
    assert [grader["type"] for grader in one["graders"]] == ["prompt", "text", "text"]
    before, after = (conclude(run(each)[0].outcome) for each in (path, repository / "out" / "eval.yaml"))
    verdicts = [(each.id, each.verdict, each.score) for each in before.tasks]
    assert sorted(verdicts) == sorted((each.id, each.verdict, each.score) for each in after.tasks)


def test_there_and_back_a_case_says_the_same(repository: Path) -> None:
    path = skill_with(repository, CASE)
    converted(path, "waza", repository / "out")
    converted(repository / "out", "evals.json", repository / "back")
    (case,) = json.loads((repository / "back" / "evals.json").read_text("utf-8"))["evals"]
    assert (case["id"], case["prompt"], case["expected_output"]) == (1, "Brew tea", "Tea.")
    assert case["files"] == ["files/leaves.csv"]
    assert (repository / "back" / "files" / "leaves.csv").read_text() == "kind,grams\n"
    assert case["assertions"][0] == "It is hot."
    assert [(each["type"], each["pattern"]) for each in case["assertions"][1:]] == [
        ("content", SAYS["pattern"]),
        ("must_not", NEVER["pattern"]),
    ]


def test_trigger_prompts_become_a_list_and_back(repository: Path) -> None:
    path = skill_with(repository, CASE).with_name("triggers.json")
    path.write_text(json.dumps(TRIGGERS), "utf-8")
    assert converted(path, None, repository / "out") == [
        "differs: triggers.json: repetitions: waza tries each prompt once, a trigger list three times"
    ]
    assert read(repository / "out" / "trigger_tests.yaml") == {
        "skill": "tea",
        "should_trigger_prompts": [{"prompt": "Brew tea"}],
        "should_not_trigger_prompts": [{"prompt": "Add numbers"}],
    }
    write_suite(repository / "out", {"a": task("a")}, graders=GREETS)
    converted(repository / "out", "evals.json", repository / "back")
    listed = json.loads((repository / "back" / "triggers.json").read_text("utf-8"))
    assert listed == {"skill_name": "tea", "evals": TRIGGERS}


GRADERS = """\
# What everybody says.
- {type: text, name: greets, config: {contains: [hello]}}
- {type: code, name: short, config: {assertions: [len(output) < 9]}}
- {type: text, name: advice, required: false, config: {contains: [x]}}
- {type: prompt, name: judge, config: {prompt: 'Is it kind? Call set_waza_grade_pass if it is.'}}
"""
SETTINGS = "config: {trials_per_task: 3, timeout_seconds: 20, executor: mock, fail_fast: true}\n"


@pytest.mark.parametrize(
    ("target", "losses"),
    [
        (
            "evals.json",
            [
                "left out: eval.yaml: metrics: it has no counterpart",
                "left out: eval.yaml: config.trials_per_task: it has no counterpart",
                "left out: eval.yaml: config.fail_fast: it has no counterpart",
                "left out: tasks/a.yaml: a: golden: it has no counterpart",
                "left out: tasks/a.yaml: a: expected.outcomes: it has no counterpart",
                "left out: eval.yaml: graders[1] `short`: `code` has no counterpart",
                "left out: eval.yaml: graders[2] `advice`: it is not required, and every assertion is",
                "differs: eval.yaml: graders[3] `judge`: its instructions become a sentence for another "
                "judge",
                "left out: eval.yaml: comments: JSON has none, so 2 lines are left out",
            ],
        ),
        (
            "vally",
            [
                "left out: eval.yaml: metrics: it has no counterpart",
                "left out: eval.yaml: config.fail_fast: it has no counterpart",
                "left out: tasks/a.yaml: a: golden: it has no counterpart",
                "left out: tasks/a.yaml: a: expected.outcomes: it has no counterpart",
                "left out: eval.yaml: graders[1] `short`: `code` with these options has no counterpart",
                "left out: eval.yaml: graders[2] `advice`: it is not required, and every grader of Vally is",
                "differs: eval.yaml: graders[3] `judge`: Vally's judge is asked in other words",
            ],
        ),
    ],
)
def test_every_loss_is_listed_with_its_place(repository: Path, target: Target, losses: list[str]) -> None:
    golden = task("a", "golden: true # must pass\nexpected: {outcomes: [{type: done}]}\n")
    more = "metrics: [{name: task_completion, threshold: 0.9}]\n"
    path = write_suite(repository / "suite", {"a": golden}, graders=GRADERS, config=SETTINGS, more=more)
    assert converted(path, target, repository / "out") == losses


def test_comments_after_empty_lines_stay(repository: Path) -> None:
    text = f"{task('a')}\n\n# Before.\ngraders:\n{GREETS}\n\n  # At the end:\n  # - type: code\n"
    path = write_suite(repository / "suite", {"a": text})
    converted(path, "vally", repository / "out")
    lines = [line.strip() for line in (repository / "out" / "eval.yaml").read_text("utf-8").splitlines()]
    comments = [line for line in lines if line.startswith("#")]
    assert comments == ["# Before.", "# At the end:", "# - type: code"]


def test_a_second_document_loses_the_comments_alone(repository: Path) -> None:
    path = write_suite(repository / "suite", {"a": f"{task('a')}# C\n---\nb: 1\n"}, graders=GREETS)
    losses = converted(path, "evals.json", repository / "out")
    why = "only a YAML file of one document keeps its comments"
    assert f"left out: tasks/a.yaml: comments: {why}" in losses


def test_comments_stay_with_their_task_and_grader(repository: Path) -> None:
    text = """\
# About tea.
id: a # stable
name: A
inputs: {prompt: "# no comment"}
graders:
  # Greetings matter.
  - {type: text, name: greets, config: {contains: [hello]}}
  - {type: text, name: ends, config: {contains: [bye]}} # politely
"""
    path = write_suite(repository / "suite", {"a": text})
    path.write_text(f"# The suite.\n{path.read_text('utf-8')}", "utf-8")
    converted(path, "vally", repository / "out")
    written = (repository / "out" / "eval.yaml").read_text("utf-8")
    lines = [line.strip() for line in written.splitlines()]
    assert lines[0] == "# The suite."
    assert lines[lines.index("- name: a") - 2 : lines.index("- name: a")] == ["# About tea.", "# stable"]
    assert lines[lines.index("- name: greets") - 1] == "# Greetings matter."
    assert lines[lines.index("- name: ends") - 1] == "# politely"
    converted(repository / "out" / "eval.yaml", "waza", repository / "back")
    assert (repository / "back" / "eval.yaml").read_text("utf-8").startswith("# The suite.\n")
    lines = [
        line.strip() for line in (repository / "back" / "tasks" / "a.yaml").read_text("utf-8").splitlines()
    ]
    assert lines[:2] == ["# About tea.", "# stable"]
    assert lines[lines.index("- name: greets") - 1] == "# Greetings matter."


VALLY = """\
name: v
environment: {skills: [skills/tea]}
stimuli:
  - name: one
    prompt: Brew tea
    graders:
      - {type: output-contains, config: {substring: brew}}
      - {type: panel, name: many, config: {models: [a, b]}}
"""


def test_a_part_of_vally_without_a_counterpart_is_left_out(repository: Path) -> None:
    (repository / "eval.yaml").write_text(VALLY, "utf-8")
    skill_with(repository, CASE)
    losses = converted(repository / "eval.yaml", None, repository / "out")
    assert losses[0] == "left out: eval.yaml: line 8: `panel` (grader `many` of `one`) has no counterpart"
    assert read(repository / "out" / "eval.yaml")["config"]["skill_directories"] == ["../skills/tea"]
    assert [each["type"] for each in read(repository / "out" / "tasks" / "one.yaml")["graders"]] == [
        "text",
        "score",
    ]


def test_graders_of_vally_become_assertions(repository: Path) -> None:
    scored = VALLY.replace("stimuli:", "scoring: {threshold: 0.8}\nstimuli:")
    (repository / "eval.yaml").write_text(scored, "utf-8")
    skill_with(repository, CASE)
    losses = converted(repository / "eval.yaml", "evals.json", repository / "out")
    assert any("a score of 0.8 passes there, here each assertion must hold" in loss for loss in losses)
    (case,) = json.loads((repository / "out" / "evals.json").read_text("utf-8"))["evals"]
    assert [each["pattern"] for each in case["assertions"]] == ["(?i)brew"]


def test_a_suite_of_which_nothing_is_left_says_why(repository: Path) -> None:
    path = write_suite(
        repository / "suite", {"a": task("a")}, graders="- {type: code, config: {assertions: ['True']}}\n"
    )
    with pytest.raises(ConversionError, match=r"can be converted: eval\.yaml: graders"):
        convert(path, "evals.json", repository / "out")


def test_strict_writes_nothing_when_something_is_lost(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(repository / "suite", {"a": task("a", "golden: true\n")}, graders=GREETS)
    assert command(path, repository / "out", "evals.json", strict=True) == 1
    assert not (repository / "out").exists()
    printed = capsys.readouterr()
    assert "✗ left out  tasks/a.yaml: a: golden: it has no counterpart" in printed.out
    assert "1 part left out" in printed.err
    assert command(path, repository / "out", "evals.json", as_json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["losses"] == [
        {"kind": "left out", "place": "tasks/a.yaml: a: golden", "why": "it has no counterpart"}
    ]
    assert sorted(Path(file).name for file in document["files"]) == ["converted.json", "evals.json"]


@pytest.mark.parametrize("path", ["../escaped.txt", "/tmp/escaped.txt"])
def test_no_file_is_copied_out_of_the_folder(repository: Path, path: str) -> None:
    files = f"inputs: {{prompt: hello, files: [{{path: {path}}}]}}\n"
    text = f"id: a\nname: A\n{files}expected: {{output_contains: [hello]}}\n"
    suite = write_suite(repository / "suite", {"a": text})
    conversion = convert(suite, "evals.json", repository / "out")
    assert conversion.copies == {}
    assert f"tasks/a.yaml: inputs.files: {path}" in [loss.place for loss in conversion.losses]


def test_existing_files_are_kept(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = skill_with(repository, CASE)
    assert command(path, repository / "out") == 0
    assert command(path, repository / "out") == 2
    assert "already there" in capsys.readouterr().err
    assert command(path, repository / "out", force=True) == 0


def test_what_cannot_be_converted_says_why(repository: Path) -> None:
    suite = write_suite(repository / "suite", {"a": task("a")}, graders=GREETS)
    evals = skill_with(repository, CASE)
    for source, target, directory, why in (
        (suite, None, "out", "say what it becomes with --to"),
        (suite, "waza", "out", "has that format already"),
        (evals, "evals.json", "out", "has that format already"),
        (suite, "evals.json", "suite", "name another folder"),
        (repository / "none.yaml", "vally", "out", "none.yaml"),
    ):
        with pytest.raises(ConversionError, match=why):
            convert(source, target, repository / directory)  # type: ignore[arg-type]


def test_a_copy_is_as_old_as_the_content_of_its_source(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(repository / "suite", {"a": task("a")}, graders=GREETS)
    out = repository / "out"
    assert check_command(suite, out, as_json=False) == 2
    command(suite, out, "evals.json")
    os.utime(suite, (1, 1))
    assert check_command(suite, out, as_json=False) == 0
    (suite.parent / "tasks" / "a.yaml").write_text(task("a", prompt="Other"), "utf-8")
    (suite.parent / "tasks" / "b.yaml").write_text(task("b"), "utf-8")
    capsys.readouterr()
    assert check_command(suite, out, as_json=False) == 1
    assert capsys.readouterr().out.splitlines() == [
        "../suite/tasks/a.yaml has changed",
        "../suite/tasks/b.yaml is new",
    ]


def test_copied_files_and_environments_of_vally_are_compared(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixture = repository / "suite" / "fixtures" / "leaves.csv"
    fixture.parent.mkdir(parents=True)
    fixture.write_text("green")
    inputs = task("a").replace("{prompt:", "{files: [leaves.csv], prompt:")
    suite = write_suite(repository / "suite", {"a": inputs}, graders=GREETS)
    stimuli = repository / "a.eval.yaml"
    stimuli.write_text("environment: e\nstimuli: [{name: a, prompt: Go, graders: [{type: completed}]}]\n")
    (repository / ".vally.yaml").write_text("environments: {e: {}}\n")
    assert (command(suite, repository / "one", "evals.json"), command(stimuli, repository / "two")) == (0, 0)
    assert check_command(suite, repository / "one", as_json=False) == 0
    assert check_command(stimuli, repository / "two", as_json=False) == 0
    fixture.write_text("black")
    (repository / ".vally.yaml").write_text("environments: {e: {skills: [.]}}\n")
    capsys.readouterr()
    assert check_command(suite, repository / "one", as_json=False) == 1
    assert check_command(stimuli, repository / "two", as_json=False) == 1
    assert capsys.readouterr().out.splitlines() == [
        "../suite/fixtures/leaves.csv has changed",
        "../.vally.yaml has changed",
    ]


def test_folders_of_skills_are_lost_in_evals_json(repository: Path) -> None:
    config = SETTINGS.replace("fail_fast: true", "skill_directories: [skills]")
    path = write_suite(repository / "suite", {"a": task("a")}, graders=GREETS, config=config)
    lost = "left out: eval.yaml: config.skill_directories: it has no counterpart"
    assert lost in converted(path, "evals.json", repository / "out")


def test_a_file_that_cannot_be_copied_leaves_no_suite(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "suite").mkdir()
    (repository / "suite" / "here.csv").write_text("a", "utf-8")
    files = "[{path: here.csv, copy_from: here.csv}, {path: b.csv, copy_from: gone.csv}]"
    text = f"id: a\nname: A\ninputs: {{prompt: hello, files: {files}}}\n"
    suite = write_suite(repository / "suite", {"a": text}, graders=GREETS)
    assert command(suite, repository / "out", "evals.json") == 2
    assert "gone.csv could not be copied" in capsys.readouterr().err
    assert not (repository / "out").exists()


def test_a_copied_file_replaces_no_other_one(repository: Path) -> None:
    path = skill_with(repository, CASE)
    command(path, repository / "waza", "waza")
    mine = repository / "out" / "files" / "leaves.csv"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", "utf-8")
    assert command(repository / "waza", repository / "out", "evals.json") == 2
    assert mine.read_text("utf-8") == "mine"
    assert not (repository / "out" / "evals.json").exists()


@pytest.mark.parametrize(
    ("mode", "skills", "sentences"),
    [
        (
            "any_order",
            "[a, b, a]",
            ["The agent used the skill a at least 2 times.", "The agent used the skill b."],
        ),
        ("in_order", "[a, b]", ["The agent used the skills a, b, in this order."]),
        ("in_order", "[a]", ["The agent used the skill a."]),
        (
            "exact_match",
            "[a, b]",
            ["The agent used the skills a, b, in this order, and used no skill besides and none more often."],
        ),
        (
            "exact_match",
            "[a]",
            ["The agent used the skill a, and used no skill besides and none more often."],
        ),
    ],
)
def test_a_sentence_about_skills_says_their_order(
    repository: Path, mode: str, skills: str, sentences: list[str]
) -> None:
    options = f"mode: {mode}, required_skills: {skills}, forbidden_skills: [z]"
    graders = f"- {{type: skill_invocation, name: s, config: {{{options}}}}}\n"
    path = write_suite(repository / "suite", {"a": task("a")}, graders=graders)
    converted(path, "evals.json", repository / "out")
    (case,) = json.loads((repository / "out" / "evals.json").read_text("utf-8"))["evals"]
    assert case["assertions"] == [*sentences, "The agent did not use the skill z."]


@pytest.mark.parametrize("folder", ["/etc", "../../x"])
@pytest.mark.parametrize("place", ["environment", "stimulus"])
def test_a_skill_folder_outside_is_refused_in_a_sentence(
    repository: Path, capsys: pytest.CaptureFixture[str], folder: str, place: str
) -> None:
    text = VALLY.replace("skills/tea", folder)
    if place == "stimulus":
        text = VALLY.replace("    prompt:", f"    environment: {{skills: [{folder}]}}\n    prompt:")
    (repository / "eval.yaml").write_text(text, "utf-8")
    assert command(repository / "eval.yaml", repository / "out") == 2
    assert not (repository / "out").exists()
    (refused,) = capsys.readouterr().err.strip().splitlines()
    assert refused.endswith("so it is not used.")
    assert "eval.yaml: `skill_directories`: " in refused


def test_input_files_that_a_run_refuses_are_left_out(repository: Path) -> None:
    files = """\
environment:
  files:
    - {src: ../../../../../etc/passwd, dest: a}
    - {src: leaves.csv, dest: /tmp/x}
    - {src: leaves.csv, dest: ../../b}
    - {src: leaves.csv, dest: tea.csv}
"""
    suite = repository / "suite"
    suite.mkdir()
    (suite / "leaves.csv").write_text("kind", "utf-8")
    text = VALLY.replace("environment: {skills: [skills/tea]}\n", files)
    (suite / "eval.yaml").write_text(text, "utf-8")
    for target, name in (("waza", "tasks/one.yaml"), ("evals.json", "evals.json")):
        conversion = convert(suite / "eval.yaml", target, repository / target)  # type: ignore[arg-type]
        places = [loss.place for loss in conversion.losses]
        for path in ("a", "/tmp/x", "../../b"):
            assert f"eval.yaml: inputs.files: {path}" in places
        written = conversion.files[name]
        assert "tea.csv" in written
        assert not any(each in written for each in ("passwd", "/tmp/x", "../../b"))
    assert list(conversion.copies) == ["tea.csv"]


@pytest.mark.parametrize("path", ["../escaped.txt", "/tmp/escaped.txt"])
def test_vally_gets_no_file_that_leads_out(repository: Path, path: str) -> None:
    files = f"inputs: {{prompt: hello, files: [{{path: {path}, content: x}}]}}\n"
    suite = write_suite(repository / "suite", {"a": f"id: a\nname: A\n{files}"}, graders=GREETS)
    conversion = convert(suite, "vally", repository / "out")
    assert f"tasks/a.yaml: inputs.files: {path}" in [loss.place for loss in conversion.losses]
    assert path not in "".join(conversion.files.values())


def test_unknown_keys_of_vally_are_left_out(repository: Path) -> None:
    text = VALLY.replace("{substring: brew}}", "{substring: brew, csae: 1}, wieght: 2}")
    text = text.replace("    prompt:", "    grader: []\n    prompt:")
    (repository / "eval.yaml").write_text(text, "utf-8")
    skill_with(repository, CASE)
    for target in ("waza", "evals.json"):
        losses = converted(repository / "eval.yaml", target, repository / target)  # type: ignore[arg-type]
        for place in (
            "reading: 5: `stimuli[0].grader` is not a known key and has no effect; write `graders`",
            "reading: 8: `stimuli[0].graders[0].wieght` is not a known key and has no effect",
            "reading: 8: `stimuli[0].graders[0].config`: `csae` is not an option here and has no effect",
        ):
            assert f"left out: eval.yaml: {place}" in losses


def test_check_names_written_files_that_are_gone_or_edited(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = skill_with(repository, CASE)
    command(path, repository / "waza", "waza")
    out = repository / "out"
    command(repository / "waza", out, "evals.json")
    assert check_command(repository / "waza", out, as_json=False) == 0
    (out / "files" / "leaves.csv").write_text("mine", "utf-8")
    (out / "evals.json").unlink()
    capsys.readouterr()
    assert check_command(repository / "waza", out, as_json=False) == 1
    assert capsys.readouterr().out.splitlines() == [
        "evals.json, which was written, is gone",
        "files/leaves.csv was edited after it was written",
    ]


@pytest.mark.parametrize("text", ["{", "[]", "{}", "[" * 100_000, '{"sources": 1, "written": {}}'])
def test_check_of_a_broken_stamp_says_so_in_words(
    repository: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    path = skill_with(repository, CASE)
    command(path, repository / "out")
    (repository / "out" / "converted.json").write_text(text, "utf-8")
    capsys.readouterr()
    assert check_command(path, repository / "out", as_json=False) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "converted.json" in line
    assert "Expecting" not in line
    assert "recursion" not in line


def test_check_reads_nothing_outside_its_folder(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = skill_with(repository, CASE)
    command(path, repository / "out")
    stamp = repository / "out" / "converted.json"
    document = json.loads(stamp.read_text("utf-8"))
    stamp.write_text(json.dumps({**document, "written": {"../skills": "1", "/etc/passwd": "1"}}), "utf-8")
    capsys.readouterr()
    assert check_command(path, repository / "out", as_json=False) == 1
    assert capsys.readouterr().out.count("leads out of") == 2


def test_strict_allows_what_only_upstream_does_not_read(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(line for line in VALLY.splitlines(keepends=True) if "panel" not in line)
    (repository / "eval.yaml").write_text(text, "utf-8")
    skill_with(repository, CASE)
    assert command(repository / "eval.yaml", repository / "out", strict=True) == 0
    printed = capsys.readouterr().out
    assert "upstream  eval.yaml: graders: upstream waza does not read `binary`, the `score` grader" in printed
    assert "0 parts left out, 0 differ" in printed
    (repository / "eval.yaml").write_text(VALLY, "utf-8")
    assert command(repository / "eval.yaml", repository / "strict", strict=True) == 1


@pytest.mark.parametrize(("path", "below"), [("data", "data/"), (".", "")])
def test_a_folder_becomes_its_files(repository: Path, path: str, below: str) -> None:
    (repository / "suite" / "all" / "b").mkdir(parents=True)
    for name in ("a.csv", "b/c.csv"):
        (repository / "suite" / "all" / name).write_text(name, "utf-8")
    files = f"inputs: {{prompt: hello, files: [{{path: {path}, copy_from: all}}]}}\n"
    suite = write_suite(repository / "suite", {"a": f"id: a\nname: A\n{files}"}, graders=GREETS)
    assert converted(suite, "evals.json", repository / "out") == []
    (case,) = json.loads((repository / "out" / "evals.json").read_text("utf-8"))["evals"]
    assert case["files"] == [f"{below}a.csv", f"{below}b/c.csv"]
    assert (repository / "out" / f"{below}b/c.csv").read_text("utf-8") == "b/c.csv"


def test_an_input_file_never_replaces_the_suite(repository: Path) -> None:
    (repository / "suite").mkdir()
    (repository / "suite" / "a.json").write_text("{}", "utf-8")
    files = "inputs: {prompt: hello, files: [{path: ./evals.json, copy_from: a.json}]}\n"
    suite = write_suite(repository / "suite", {"a": f"id: a\nname: A\n{files}"}, graders=GREETS)
    losses = converted(suite, "evals.json", repository / "out")
    assert losses == ["left out: tasks/a.yaml: inputs.files: evals.json: another file has this path"]
