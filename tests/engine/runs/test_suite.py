from collections import Counter
from pathlib import Path

import pytest

from tests.engine.suites import CONFIG, GREETS, run, task, verdicts, write_suite
from waza_engine.graders.text import TextGrader
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.runs.trials.selection import select
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading import yaml_reader
from waza_engine.spec.reading.task_globs import GlobError, expand, name_matches

SAYS = "- {type: text, name: says, config: {contains: [hello]}}\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("b.yaml", "a.yaml", "c.txt", "deep/x.yaml", "deep/er/y.yaml", ".hidden.yaml", "B.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.yaml", [".hidden.yaml", "B.yaml", "a.yaml", "b.yaml"]),
        ("[ab].yaml", ["a.yaml", "b.yaml"]),
        ("[^a].yaml", ["B.yaml", "b.yaml"]),
        ("[a-b].yaml", ["a.yaml", "b.yaml"]),
        ("?.yaml", ["B.yaml", "a.yaml", "b.yaml"]),
        ("**/*.yaml", ["deep/x.yaml"]),
        ("*/er/*.yaml", ["deep/er/y.yaml"]),
        ("./deep/../a.yaml", ["a.yaml"]),
        ("/a.yaml", ["a.yaml"]),
        ("gone.yaml", []),
        ("", []),
    ],
)
def test_patterns_match_within_one_directory_level_and_sorted(
    tree: Path, pattern: str, names: list[str]
) -> None:
    assert [path.relative_to(tree).as_posix() for path in expand(tree, pattern)] == names


def test_a_pattern_may_climb(tree: Path) -> None:
    assert expand(tree / "deep", "../a.yaml") == (tree / "a.yaml",)


@pytest.mark.parametrize("pattern", ["[", "[a", "[]", "[b-a]", "a[-x]"])
def test_a_pattern_that_cannot_be_read_is_refused(tree: Path, pattern: str) -> None:
    with pytest.raises(GlobError):
        expand(tree, pattern)


def test_a_name_pattern_does_not_cross_slashes() -> None:
    assert name_matches("a*", "abc")
    assert not name_matches("a*", "a/b")
    assert name_matches("a[*]c", "a*c")


def test_tasks_come_in_the_order_of_the_patterns_and_twice_when_matched_twice(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"b": task("b"), "a": task("a")})
    path.write_text(path.read_text().replace("['tasks/*.yaml']", "[tasks/b.yaml, 'tasks/*.yaml']"))
    suite = load_suite(path)
    assert [found.id for found in suite.tasks] == ["b", "a", "b"]
    assert any("occurs twice" in warning for warning in suite.warnings)


def test_tasks_may_be_written_inside_the_eval_file(tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text(
        f"name: s\n{CONFIG}tasks:\n  - {{id: inside, inputs: {{prompt: Hi}}}}\n  - task_files: ['t/*.yaml']\n"
    )
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "x.yaml").write_text(task("x"))
    assert [found.id for found in load_suite(path).tasks] == ["inside", "x"]


def test_disabled_tasks_are_left_out(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", "enabled: false"), "b": task("b")})
    assert [found.id for found in load_suite(path).tasks] == ["b"]


def test_a_disabled_task_that_is_asked_for_is_told_to_be_switched_off(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", "enabled: false"), "b": task("b")})
    with pytest.raises(SuiteError, match=r"^`a` is switched off by `enabled: false`"):
        run(path, tasks=("a",))


def test_a_task_without_an_id_is_called_by_its_file(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, {"explain": "inputs: {prompt: Hi}\n"}))
    assert (suite.tasks[0].id, suite.tasks[0].name) == ("explain", "explain")


def test_a_run_says_which_listed_task_file_is_not_there(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"b": task("b")})
    listed = path.read_text().replace("'tasks/*.yaml'", "'tasks/*.yaml', tasks/a.yaml, 'more/*.yaml'")
    path.write_text(listed)
    (warning,) = load_suite(path).warnings
    assert warning == f"{path}: there is no file `tasks/a.yaml`, so this task is left out"


def test_a_suite_without_any_task_says_what_it_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"tasks/\*\.yaml"):
        load_suite(write_suite(tmp_path, {}))


@pytest.mark.parametrize(
    "text", ["", "[]", "name: [", "name: x\n", "config: 3\n", "\0", "name: s\nconfig: {trials_per_task: 0}\n"]
)
def test_an_eval_file_that_cannot_be_used_says_where(tmp_path: Path, text: str) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text(text)
    with pytest.raises((SuiteFileError, SuiteError), match=r"eval\.yaml"):
        load_suite(path)


def test_a_broken_task_inside_the_eval_file_is_a_task_in_error(tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text(
        "name: s\nskill: s\nconfig: {trials_per_task: 1, timeout_seconds: 9, executor: mock}\ntasks:\n"
        "  - {id: good, name: Good, inputs: {prompt: Hi}}\n"
        "  - {id: odd, name: Odd, inputs: {prompt: Hi}, graders: [text]}\n"
        "  - {id: last, inputs: {prompt: Hi}, golden: maybe}\n"
        "  - [list]\n",
        "utf-8",
    )
    good, *broken = load_suite(path).tasks
    assert (good.id, good.error) == ("good", "")
    assert [(task.id, task.name) for task in broken] == [
        ("odd", "Odd"),
        ("last", "last"),
        ("task-4", "task-4"),
    ]
    assert [task.error.removeprefix(f"{path}:") for task in broken[:2]] == [
        "6: `tasks[1].graders[0]` must be a block of keys, one `key: value` a line",
        "7: `tasks[2].golden` must be `true` or `false`",
    ]
    assert broken[2].error.startswith(f"{path}:8: `tasks[3]`")
    with pytest.raises(SuiteFileError):
        load_suite(path, lenient=False)


@pytest.mark.parametrize("config", ["{contains: hello}", "{contains: {a: 1}}"])
def test_an_option_of_the_wrong_form_costs_its_grader_alone(tmp_path: Path, config: str) -> None:
    graders = f"- {{type: text, name: wrong, config: {config}}}\n{SAYS}"
    found = verdicts(run(write_suite(tmp_path, {"a": task("a")}, graders=graders))[0])
    assert (found["wrong"].status, found["says"].passed) == ("error", True)


def test_a_config_that_is_no_block_costs_the_task_it_stands_in(tmp_path: Path) -> None:
    wrong = "graders: [{type: text, name: wrong, config: [hello]}]\n"
    report, _ = run(write_suite(tmp_path, {"a": task("a", wrong), "b": task("b")}, graders=SAYS))
    assert [found.status for found in report.outcome.tasks] == ["error", "passed"]
    assert "`graders[0].config` must be a block of keys" in report.outcome.tasks[0].error


def test_a_config_that_is_no_block_in_the_eval_file_costs_the_suite(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders="- {type: text, name: wrong, config: [hello]}\n")
    with pytest.raises(SuiteFileError, match="must be a block of keys"):
        load_suite(path)


@pytest.mark.parametrize("inputs", ["", "inputs: {}\n"])
def test_a_task_without_a_prompt_is_an_error_and_an_empty_one_runs(tmp_path: Path, inputs: str) -> None:
    empty = "id: b\nname: B\ninputs: {prompt: ''}\n"
    report, _ = run(write_suite(tmp_path, {"a": f"id: a\nname: A\n{inputs}", "b": empty}))
    assert [found.status for found in report.outcome.tasks] == ["error", "passed"]
    assert "`inputs`" in report.outcome.tasks[0].error


GRADERS = """\
- {type: text, name: a, config: {contains: [x]}}
- {type: inline, name: b, config: {grader: none.py}}
- {type: script, name: c, config: {script: none.py}}
"""


def warnings(path: Path, *names: str) -> list[str]:
    suite = load_suite(path)
    return [warning.partition(f"{suite.directory}")[2] or warning for warning in select(suite, (), names)[1]]


def test_a_grader_that_does_not_exist_is_named(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GRADERS)
    assert warnings(suite, "a", "nope") == ["no grader is called `nope`; there are a, b, c"]
    assert warnings(suite, "a") == []


def test_a_grader_file_that_is_not_there_is_told_before_the_run(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GRADERS)
    told = warnings(suite)
    assert len(told) == 2
    assert "grader `b`: Grader not found:" in told[0]
    assert "grader `c`: the script none.py does not exist" in told[1]
    (tmp_path / "none.py").write_text("")
    assert warnings(suite) == []


def test_what_is_odd_about_a_grader_of_the_suite_is_said_once_and_of_the_eval_file(tmp_path: Path) -> None:
    odd = "- {{type: text, name: {}, config: {{contains: [x], colour: red}}}}\n"
    own = task("b", f"graders:\n{odd.format('own')}")
    suite = write_suite(tmp_path, {"a": task("a"), "b": own}, graders=odd.format("shared"))
    said = "`colour` is not an option here and has no effect"
    assert warnings(suite) == [f"/eval.yaml: grader `shared`: {said}", f"/tasks/b.yaml: grader `own`: {said}"]


TASKS = 12


def test_a_grader_of_the_suite_is_built_once_for_all_its_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = Counter[str]()
    create = TextGrader.__init__

    def counted(self: TextGrader, *arguments: object, **options: object) -> None:
        built["text"] += 1
        create(self, *arguments, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(TextGrader, "__init__", counted)
    names = [f"t{number}" for number in range(TASKS)]
    report, _ = run(write_suite(tmp_path, {name: task(name) for name in names}, graders=GREETS))
    assert report.outcome.summary.succeeded == TASKS
    assert built["text"] == 1


def test_a_task_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = Counter[str]()
    parse = yaml_reader.parse_yaml

    def counted(text: str, path: Path) -> yaml_reader.YamlFile:
        parsed[path.name] += 1
        return parse(text, path)

    monkeypatch.setattr(yaml_reader, "parse_yaml", counted)
    report, _ = run(write_suite(tmp_path, {name: task(name) for name in ("a", "b")}, graders=GREETS))
    assert report.outcome.summary.succeeded == 2
    assert {name: count for name, count in parsed.items() if name != "eval.yaml"} == {
        "a.yaml": 1,
        "b.yaml": 1,
    }
