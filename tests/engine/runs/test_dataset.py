"""Tasks from a CSV file, the values in their prompts, and tasks from ``prompts.jsonl``."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.engine.executors.agents import adapter
from tests.engine.suites import CONFIG, run
from waza_engine.commands.preflight import preflight
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, SuiteTask, load_suite
from waza_engine.runs.loading.templates import TemplateData, TemplateError, render
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.task_file import TaskFile

DATA = TemplateData(
    {"TaskName": "First", "Iteration": 0},
    {"city": "Oslo", "my-col": "x", "quote": 'a "b" {{c}}', "empty": ""},
)


def suite_of(directory: Path, dataset: str | bytes, more: str = "", name: str = "data.csv") -> Path:
    directory.mkdir(exist_ok=True)
    (directory / name).write_bytes(dataset.encode() if isinstance(dataset, str) else dataset)
    path = directory / "eval.yaml"
    path.write_text(f"name: suite\nskill: writer\n{CONFIG}tasks_from: {name}\n{more}")
    return path


def loaded(directory: Path, dataset: str | bytes, more: str = "") -> Suite:
    return load_suite(suite_of(directory, dataset, more))


def prompts(suite: Suite) -> list[str]:
    return [prompt(task) for task in suite.tasks]


def prompt(task: SuiteTask) -> str:
    assert task.task is not None, task.error
    return task.task.inputs.prompt


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("", ""),
        ("no values, { and }} alone", "no values, { and }} alone"),
        ("{{.Vars.city}}", "Oslo"),
        ("in {{ .Vars.city }}!", "in Oslo!"),
        ("{{.TaskName}}: {{.Vars.city}}", "First: Oslo"),
        ('{{index .Vars "my-col"}}', "x"),
        ("{{index .Vars `my-col`}}", "x"),
        ("{{.Vars.quote}}", 'a "b" {{c}}'),
        ('{{"{{"}}.Vars{{"}}"}}', "{{.Vars}}"),
        ("{{`raw`}}", "raw"),
        ("a  {{- .Vars.city -}}  b", "aOslob"),
        ("a{{/* a note, }} in it */}}b", "ab"),
        ("a {{- /* note */ -}} b", "ab"),
        ("{{.Vars.city}} {{- .Vars.city}}", "OsloOslo"),
        ("{{if .Vars.city}}a{{end}}", "a"),
        ("{{if .Vars.empty}}a{{else}}b{{end}}", "b"),
        ('{{if eq .Vars.city "Rome" "Oslo"}}a{{else if .Vars.town}}b{{end}}', "a"),
        ('{{if eq .Vars.city "Rome"}}a{{else if ne .Vars.city "Rome"}}b{{else}}c{{end}}!', "b!"),
        ("{{if and .Vars.city (not .Vars.empty)}}{{if .Vars.empty}}a{{else}}b{{end}}c{{end}}", "bc"),
        ("{{or .Vars.empty .Vars.city}}", "Oslo"),
        ("{{with .Vars.city}}{{.}} of {{$.TaskName}}{{end}}", "Oslo of First"),
        ("{{with .Vars.empty}}a{{else}}{{.TaskName}}{{end}}", "First"),
        ('{{printf "%s is %q, %.1f %03d%%" .Vars.city "b" 1.25 7}}', 'Oslo is "b", 1.2 007%'),
        ('{{.Vars.city | printf "%s %s" "in"}}', "in Oslo"),
        ('{{printf "%5d|%-3s|%.2f" 9223372036854775807 "x" 1.5}}', "9223372036854775807|x  |1.50"),
        ("{{len .Vars.city}} {{gt (len .Vars.city) 3}}", "4 true"),
        ("{{if eq .Iteration 0}}first{{end}}", "first"),
        ("{{print 1 2 `a`}}{{println .Vars.city}}", "1 2aOslo\n"),
        ("a\n{{- if true}}\nb\n{{- end}}\nc", "a\nb\nc"),
    ],
)
def test_a_value_is_filled_in(template: str, text: str) -> None:
    assert render(template, DATA) == text


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{.Vars.town}}", "no column or input `town`; there are `city`"),
        ('{{index .Vars "town"}}', "no column or input `town`"),
        ("{{city}}", "`{{city}}` is not a value; write `{{.Vars.city}}`"),
        ("{{.city}}", "write `{{.Vars.city}}`"),
        ("{{my-col}}", 'write `{{index .Vars "my-col"}}`'),
        ("{{.Vars.my-col}}", 'write `{{index .Vars "my-col"}}`'),
        ("{{.Nope}}", "write `.TaskName`, `.Iteration` or `.Vars.<name>`"),
        ("{{.Vars}}", "write one of them"),
        ("{{}}", "is empty"),
        ("{{.Vars.city", "no closing `}}`"),
        ("{{if .Vars.city}}a", "`{{if .Vars.city}}` has no `{{end}}`"),
        ("{{if .Vars.city}}a{{else}}b{{else}}c{{end}}", "has no `{{end}}`"),
        ("a{{end}}", "`{{end}}` closes nothing"),
        ("{{if .Vars.town}}a{{end}}", "no column or input `town`"),
        ("{{if .Vars.empty}}{{city}}{{end}}", "`{{city}}` is not a value"),
        ("{{range .Vars}}a{{end}}", "`range` cannot be used here"),
        ("{{$x := 1}}", "a variable cannot be used here"),
        ("{{with .Vars.city}}{{.TaskName}}{{end}}", "write `$.TaskName`"),
        ("{{if eq .Vars.city 3}}a{{end}}", "quote the other side"),
        ("{{lt .Vars 3}}", "different kinds"),
        ('{{printf "%d" .Vars.city}}', "cannot write 'Oslo' as `%d`"),
        ('{{printf "%s"}}', "no value for `%s`"),
        ('{{printf "x" 1}}', "more values"),
        ('{{printf "%1500000000d" 1}}', "is above 9,999"),
        ('{{printf "%.99999999999d" 1}}', "is above 9,999"),
        (f'{{{{printf "%{"9" * 5000}s" "x"}}}}', "is above 9,999"),
        (f"{{{{{'9' * 5000}}}}}", "the number is too large"),
        (f"{{{{{'9' * 5000}.5}}}}", "the number is too large"),
        ("{{9223372036854775808}}", "the number is too large"),
        ("{{.Vars.city .Vars.city}}", "is not a value"),
        ("{{.Vars.city | .Vars.city}}", "is not a value"),
        ("{{(.Vars.city}}", "is not a value"),
        ("{{html .Vars.city}}", "is not a value"),
        ("{{if true}}" * 5000, "nested too deeply"),
        ("{{" + "(" * 5000, "has no closing"),
        ("{{" + "(" * 5000 + "1" + ")" * 5000 + "}}", "nested too deeply"),
        ('{{"\\q"}}', "escape"),
    ],
)
def test_what_is_no_value_says_what_to_write(template: str, said: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(said)):
        render(template, DATA)


def test_each_row_is_a_task_and_runs(tmp_path: Path) -> None:
    dataset = 'id,name,prompt,city\na,Ask,"Hi, {{.Vars.city}}",Oslo\nb,,Bye {{.TaskName}},Rome\n'
    greets = "graders: [{type: text, name: says, config: {contains: ['Hi, Oslo']}}]\n"
    report, _ = run(suite_of(tmp_path, dataset, greets))
    assert [(task.id, task.name, task.status) for task in report.outcome.tasks] == [
        ("a", "Ask", "passed"),
        ("b", "row-2", "failed"),
    ]
    assert "Bye row-2" in report.outcome.tasks[1].trials[0].output


def test_an_id_falls_back_to_the_name_and_then_to_the_row(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "name,prompt\nAsk,x\n,y\n")
    assert [task.id for task in suite.tasks] == ["Ask", "row-2"]


def test_inputs_are_values_and_a_column_wins(tmp_path: Path) -> None:
    more = "inputs: {city: Bergen, who: you}\n"
    suite = loaded(tmp_path, "prompt,city\n{{.Vars.who}} {{.Vars.city}},Oslo\n", more)
    assert prompts(suite) == ["you Oslo"]


@pytest.mark.parametrize(
    ("chosen", "ids"),
    [
        ("[0, 0]", ["row-1", "row-2", "row-3"]),
        ("[2, 2]", ["row-2"]),
        ("[2, 99]", ["row-2", "row-3"]),
    ],
)
def test_a_range_chooses_rows_and_they_keep_their_numbers(
    tmp_path: Path, chosen: str, ids: list[str]
) -> None:
    suite = loaded(tmp_path, "prompt\na\nb\nc\n", f"range: {chosen}\n")
    assert [task.id for task in suite.tasks] == ids


@pytest.mark.parametrize(
    ("chosen", "said"),
    [("[0, 3]", ""), ("[3, 1]", ""), ("[-1, 2]", ""), ("[5, 6]", "starts at row 5 of 3")],
)
def test_a_range_that_is_none_is_refused(tmp_path: Path, chosen: str, said: str) -> None:
    with pytest.raises(SuiteFileError, match=re.escape(said)):
        loaded(tmp_path, "prompt\na\nb\nc\n", f"range: {chosen}\n")


def test_quotes_line_breaks_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    dataset = '\ufeffid,prompt\r\n\r\na,"two\r\nlines, ""quoted"""\r\n\r\nb,plain\r\n'
    suite = loaded(tmp_path, dataset)
    assert [(task.id, prompt(task)) for task in suite.tasks] == [
        ("a", 'two\nlines, "quoted"'),
        ("b", "plain"),
    ]


def test_a_prompt_may_be_long(tmp_path: Path) -> None:
    assert len(prompts(loaded(tmp_path, "prompt\n" + "x" * 200_000))[0]) == 200_000


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("", "data.csv:1: the dataset is empty"),
        ("id,prompt\n", "data.csv:1: the dataset has no tasks, only a header"),
        ("id,prompt\na,x\n\nb\n", "data.csv:4: the row has 1 cell, the header 2"),
        ("id,prompt\na,x,y\n", "data.csv:2: the row has 3 cells"),
        ('id,prompt\na,"x\n', "data.csv:2: a quoted cell is not closed"),
        ('id,prompt\na,"x"y\n', "data.csv:2: a quoted cell is not closed"),
        (b"id,prompt\na,\xff\n", "data.csv"),
    ],
)
def test_a_file_that_is_no_table_says_where(tmp_path: Path, dataset: str | bytes, said: str) -> None:
    with pytest.raises(SuiteFileError, match=re.escape(said)):
        loaded(tmp_path, dataset)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = suite_of(tmp_path, "prompt\na\n")
    (tmp_path / "data.csv").unlink()
    with pytest.raises(SuiteFileError, match=r"data\.csv"):
        load_suite(path)


def test_a_file_outside_the_suite_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("prompt\nx\n")
    path = suite_of(tmp_path / "suite", "prompt\na\n")
    for written in ("../other.csv", str(tmp_path / "other.csv")):
        path.write_text(path.read_text().replace("data.csv", written))
        with pytest.raises(SuiteFileError, match="does not lie inside"):
            load_suite(path)
        path.write_text(path.read_text().replace(written, "data.csv"))
    (tmp_path / "suite" / "data.csv").unlink()
    (tmp_path / "suite" / "data.csv").symlink_to(tmp_path / "other.csv")
    with pytest.raises(SuiteFileError, match="does not lie inside"):
        load_suite(path)


def test_a_prompt_that_cannot_be_filled_in_costs_its_task_alone(tmp_path: Path) -> None:
    report, _ = run(suite_of(tmp_path, "prompt\n{{.Vars.gone}}\nfine\n"))
    assert [task.status for task in report.outcome.tasks] == ["error", "passed"]
    assert "data.csv:2: the prompt cannot be filled in" in report.outcome.tasks[0].error


def test_what_has_no_effect_is_warned_about(tmp_path: Path) -> None:
    suite = loaded(tmp_path, "id,prompt,prompt\na,x,y\na,x,z\n", "tasks: ['tasks/*.yaml']\n")
    assert prompts(suite) == ["y", "z"]
    said = "\n".join(suite.warnings)
    assert "`tasks` has no effect" in said
    assert "column `prompt` occurs twice" in said
    assert "`a` occurs twice" in said


@pytest.mark.parametrize(
    "dataset",
    [
        "id;prompt\na;one\nb;two\n",
        "id\tprompt\na\tone\nb\ttwo\n",
        "id|prompt\na|one\nb|two\n",
        "id, prompt\na,one\nb,two\n",
        "\ufeffid ,prompt \na,one\nb,two\n",
        'id;"prompt"\na;one\nb;two\n',
    ],
)
def test_the_prompts_are_found_where_the_columns_are_certain(tmp_path: Path, dataset: str) -> None:
    assert prompts(loaded(tmp_path, dataset)) == ["one", "two"]


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("id,Prompt\na,x\n", "no column `prompt`, only `id`, `Prompt`; rename `Prompt` to `prompt`"),
        ("id,question\na,x\n", "no column `prompt`, only `id`, `question`; rename `question` to `prompt`"),
        (
            "id;frage\na;x\n",
            "no column `prompt`, only `id;frage`: separate the columns with commas, not with `;`",
        ),
        (
            "id,city\na,x\n",
            "no column `prompt`, only `id`, `city`; name the column with the prompts `prompt`",
        ),
        ("id,prompt\na,x\nb,\n", "data.csv:3: the cell `prompt` of this row is empty"),
        ("id,prompt\na,  \n", "data.csv:2: the cell `prompt` of this row is empty"),
    ],
)
def test_prompts_that_are_not_found_stop_the_run_before_any_call(
    tmp_path: Path, dataset: str, said: str
) -> None:
    with pytest.raises(SuiteFileError, match=re.escape(said)):
        loaded(tmp_path, dataset)


def test_a_prompt_of_which_nothing_is_left_is_not_sent(tmp_path: Path) -> None:
    [task] = loaded(tmp_path, "id,prompt,city\na,{{.Vars.city}},\n").tasks
    assert (task.task, "nothing is left of it" in task.error) == (None, True)


@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        ("{prompt: ''}", "the prompt"),
        ('{prompt: "  "}', "the prompt"),
        ("{prompt: Go, follow_up_prompts: [' ']}", "a follow-up prompt"),
    ],
)
def test_a_blank_prompt_is_refused_where_a_call_costs(tmp_path: Path, inputs: str, what: str) -> None:
    path = tmp_path / "eval.yaml"
    costly = CONFIG.replace("mock", "command, adapter: agent.json")
    task = f"tasks:\n- id: a\n  inputs: {inputs}\n"
    path.write_text(f"name: s\nskill: w\n{costly}{task}")
    (tmp_path / "agent.json").write_text(json.dumps(adapter()))
    with pytest.raises(SuiteError, match=f"{what} of `a` is empty"):
        prepare(RunSettings(path))
    assert "task.prompt" in [finding.code for finding in preflight(RunSettings(path)).findings]
    path.write_text(f"name: s\nskill: w\n{CONFIG}{task}")
    assert prepare(RunSettings(path))


ROOT = Path(__file__).parents[3]


def loaded_lines(directory: Path, lines: str | bytes, more: str = "") -> Suite:
    return load_suite(suite_of(directory, lines, more, "prompts.jsonl"))


def tasks(suite: Suite) -> list[TaskFile]:
    found = [task.task for task in suite.tasks]
    assert None not in found
    return [task for task in found if task is not None]


def line(identifier: str = "a", **keys: object) -> str:
    return json.dumps({"id": identifier, "input": "Hi", **keys}) + "\n"


def test_each_line_is_a_task_and_runs(tmp_path: Path) -> None:
    lines = line("a", input="Say one") + line("b", input=["two", "three"])
    report, _ = run(suite_of(tmp_path, lines, name="prompts.jsonl"))
    assert [(task.id, task.name, task.status) for task in report.outcome.tasks] == [
        ("a", "a", "passed"),
        ("b", "b", "passed"),
    ]
    assert "Say one" in report.outcome.tasks[0].trials[0].output
    assert "three" in report.outcome.tasks[1].trials[0].output


@pytest.mark.parametrize(
    "lines",
    [
        line("a") + "\n  \n" + line("b"),
        "\ufeff" + (line("a") + line("b")).replace("\n", "\r\n"),
    ],
)
def test_blank_lines_a_byte_order_mark_and_carriage_returns_are_none(tmp_path: Path, lines: str) -> None:
    assert [task.id for task in tasks(loaded_lines(tmp_path, lines))] == ["a", "b"]


def test_a_list_is_a_conversation_and_the_time_limit_is_in_milliseconds(tmp_path: Path) -> None:
    written = line(input=["Hi", "How are you?", "Bye"], timeout=120000) + line("b", timeout=1500)
    first, second = tasks(loaded_lines(tmp_path, written))
    assert (first.inputs.prompt, first.inputs.follow_up_prompts) == ("Hi", ("How are you?", "Bye"))
    assert (first.timeout_seconds, second.timeout_seconds) == (120, 2)


def test_facts_for_graders_reach_the_task(tmp_path: Path) -> None:
    facts = {"category": "math", "difficulty": "easy"}
    (task,) = tasks(loaded_lines(tmp_path, line(hint="4", reference="It is 4.", metadata=facts)))
    assert (task.hint, task.reference, dict(task.metadata)) == ("4", "It is 4.", facts)
    assert task.tags == ("math",)


def test_a_prompt_is_sent_as_it_is_written(tmp_path: Path) -> None:
    (task,) = tasks(loaded_lines(tmp_path, line(input="{{.Vars.x}} {{ y }}")))
    assert task.inputs.prompt == "{{.Vars.x}} {{ y }}"


def test_the_older_name_of_hint_is_read_with_a_warning(tmp_path: Path) -> None:
    suite = loaded_lines(tmp_path, line(expected="4"))
    assert tasks(suite)[0].hint == "4"
    assert any("prompts.jsonl:1: `expected` is the older name of `hint`" in text for text in suite.warnings)


def test_an_unknown_key_has_no_effect_and_says_what_was_meant(tmp_path: Path) -> None:
    suite = loaded_lines(tmp_path, line() + line("b", meta={}))
    assert any(
        "prompts.jsonl:2: `meta` is not an option here" in text and "`metadata`" in text
        for text in suite.warnings
    )


@pytest.mark.parametrize(
    ("chosen", "ids"),
    [("[2, 3]", ["b", "c"]), ("[3, 9]", ["c"]), ("[0, 0]", ["a", "b", "c"])],
)
def test_a_range_counts_prompts_not_lines(tmp_path: Path, chosen: str, ids: list[str]) -> None:
    suite = loaded_lines(tmp_path, line("a") + "\n\n" + line("b") + line("c"), f"range: {chosen}\n")
    assert [task.id for task in suite.tasks] == ids


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"id":"t1"}\n', "prompts.jsonl:1: `input` is missing"),
        (line("a") + '{"id": oops}\n' + line("c"), "prompts.jsonl:2: this is not JSON (column 8)"),
        (line("a") + "\n" + '{"id":"b",}\n', "prompts.jsonl:3: this is not JSON"),
        (line("a") + "[]\n", "prompts.jsonl:2: the line must be a JSON object"),
        (line("a") + line("b") + line("a"), "prompts.jsonl:3: the id `a` is taken by line 1"),
        (
            line(input=[]),
            "prompts.jsonl:1: `input` must be a string that is not blank, or a list of such strings",
        ),
        (line(timeout="5"), "prompts.jsonl:1: `timeout` must be a number"),
        ("", "prompts.jsonl:1: the dataset has no tasks"),
        (b'{"id": "\xff"}', "prompts.jsonl"),
        ("[" * 100_000, "prompts.jsonl:1: "),
    ],
)
def test_a_line_that_is_no_prompt_says_where(tmp_path: Path, written: str | bytes, said: str) -> None:
    with pytest.raises(SuiteFileError, match=re.escape(said)):
        loaded_lines(tmp_path, written)


def test_a_range_beyond_the_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteFileError, match="starts at line 5 of 1"):
        loaded_lines(tmp_path, line(), "range: [5, 6]\n")


def test_everything_that_is_wrong_with_a_line_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SuiteFileError) as caught:
        loaded_lines(tmp_path, '{"id":1,"input":["a",2],"hint":null}\n')
    assert caught.value.message == (
        "`id` must be text; `input` must be a string that is not blank, or a list of such strings; "
        "`hint` must be text"
    )


def test_the_example_runs_and_picks_by_category(tmp_path: Path) -> None:
    example = ROOT / "examples" / "prompts-file"
    shutil.copytree(example, tmp_path / "suite", ignore=shutil.ignore_patterns(".waza"))
    report, _ = run(tmp_path / "suite" / "eval.yaml")
    assert [(found.id, found.status) for found in report.outcome.tasks] == [
        ("explain-recursion", "passed"),
        ("explain-closures", "passed"),
        ("write-then-test", "passed"),
    ]
    basics, _ = run(tmp_path / "suite" / "eval.yaml", tags=("basics",))
    assert [found.id for found in basics.outcome.tasks] == ["explain-recursion"]


@pytest.mark.parametrize(("language", "suffix", "count"), [("json", "jsonl", 2), ("csv", "csv", 2)])
def test_the_files_in_the_guide_are_read(tmp_path: Path, language: str, suffix: str, count: int) -> None:
    guide = (ROOT / "docs" / "datasets.md").read_text("utf-8")
    (block,) = re.findall(rf"```{language}\n(.*?)```", guide, re.DOTALL)
    suite = load_suite(suite_of(tmp_path, block, name=f"tasks.{suffix}"))
    assert (len(suite.tasks), suite.warnings) == (count, ())
    assert not any(found.error for found in suite.tasks)
