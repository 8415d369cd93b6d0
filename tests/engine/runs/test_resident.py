"""A resident suite says what a fresh one says, and does again only what an edit touches."""

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.suites import CONFIG, GREETS, recorded, task, write_suite
from tests.patience import ON_A_BUSY_MACHINE, staying
from waza_engine.commands.regraded import answer, graded
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.runs.grading.grader_cache import GraderCache
from waza_engine.runs.grading.grader_workers import GradingWorkers
from waza_engine.runs.limits.cancellation import CancelledRunError, RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.problems import SuiteFileError

pytestmark = pytest.mark.check

LONG = "- {type: code, name: long, config: {assertions: [len(output) > 3]}}\n"


def grade(suites: ResidentSuites, record: Path, **options: Any) -> dict[str, Any]:
    regrading = prepare_regrading(RegradeRequest(record, **options), suites)
    return answer(regrading, graded(regrading, RunCancellation()))


def told(suites: ResidentSuites, record: Path, **options: Any) -> str:
    """Return the answer, or what is wrong, as text without the folder of the suite."""
    try:
        found = json.dumps(grade(suites, record, **options), indent=1)
    except (SuiteError, SuiteFileError, RecordingError) as error:
        found = f"{type(error).__name__}: {error}"
    return found.replace(str(record.parents[2]), "")


@pytest.fixture
def suites() -> Iterator[ResidentSuites]:
    with ResidentSuites() as found:
        yield found


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be so late that what was written is no longer news: stamps of files are trusted."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 3_600_000_000_000)


# What the files of the suite may be; None is no file at all.
EVAL = "name: suite\nskill: writer\n" + CONFIG
ENTRIES = st.sampled_from(
    [
        "{type: text, name: one, config: {contains: [hello]}}",
        "{type: text, name: one, weight: 2, config: {contains: [hello, nothing]}}",
        "{type: text, name: two, config: {regex_match: ['(?i)MOCK']}}",
        "{type: text, name: two, config: {regex_match: ['(?<=M)ock']}}",
        "{type: text, name: two, config: {regex_match: ['(']}}",
        "{type: text, name: two, config: {contains: []}}",
        "{type: code, name: three, config: {assertions: [len(output) > 3]}}",
        "{type: code, name: three, config: {assertions: [len(output) > 3000, gone]}}",
        "{type: behavior, name: four, config: {max_tool_calls: 1}}",
        "{type: behavior, name: four, config: {max_tool_calls: true}}",
        "{type: keyword, name: five, config: {keywords: [1]}}",
        "{type: keyword, name: five, config: {keywords: [01]}}",
        "{type: json_schema, name: six, config: {schema_file: schema.json, extract_json: true}}",
        "{type: json_schema, name: six, config: {schema_file: schema.json}}",
        "{type: prompt, name: seven, config: {rubric: rubric.md}}",
        "{type: nonsense, name: eight}",
        "{type: text, config: {contains: [mock]}}",
    ]
)
FILES: Mapping[str, st.SearchStrategy[str | None]] = {
    "eval.yaml": st.one_of(
        st.lists(ENTRIES, max_size=4).map(
            lambda entries: (
                EVAL + "tasks: ['tasks/*.yaml']\ngraders:\n" + "".join(f"- {entry}\n" for entry in entries)
            )
        ),
        st.sampled_from([EVAL + "tasks: [tasks/a.yaml, tasks/gone.yaml]\n", EVAL + "tasks: [", ""]),
    ),
    "tasks/a.yaml": st.sampled_from(
        [
            task("a"),
            task("a", "expected: {output_contains: [hello, gone]}\n"),
            task("a", "graders:\n- {type: text, name: one, config: {contains: [bye]}}\n"),
            task("a", "enabled: false\n"),
            task("b"),
            "id: a\ninputs: {prompt: [\n",
            None,
        ]
    ),
    "tasks/b.yaml": st.sampled_from(
        [task("b"), "id: b\nname: Task b\ninputs: {prompt_file: prompt.md}\n", task("c"), None]
    ),
    "tasks/c.yaml": st.sampled_from([None, task("c")]),
    "tasks/prompt.md": st.sampled_from(["Say hello", "Say nothing", None]),
    "schema.json": st.sampled_from(['{"type": "object"}', '{"type": 3}', "{", None]),
    "rubric.md": st.sampled_from(["Be kind.", "", None]),
}
STATES = st.fixed_dictionaries(dict(FILES))
OPEN = st.sets(st.sampled_from(sorted(FILES)))
ASKED = st.sampled_from([{}, {}, {"tasks": ["a"]}, {"graders": ["one"]}, {"graders": ["three", "six"]}])


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a suite that was run."""
    directory = tmp_path_factory.mktemp("sample")
    recorded(
        write_suite(directory, {"a": task("a"), "b": task("b"), "c": task("c")}, graders=GREETS), trials=2
    )
    return directory


def write(directory: Path, texts: Mapping[str, str | None]) -> None:
    for name, text in texts.items():
        if text is None:
            (directory / name).unlink(missing_ok=True)
        else:
            (directory / name).write_text(text)


@settings(max_examples=25)
@given(steps=st.lists(st.tuples(STATES, OPEN, ASKED), min_size=2, max_size=5))
def test_it_says_what_a_fresh_one_says_of_the_same_text_on_the_disk(
    sample: Path, steps: list[tuple[dict[str, str | None], set[str], dict[str, list[str]]]]
) -> None:
    with tempfile.TemporaryDirectory() as directory, ResidentSuites() as resident:
        edited, fresh = Path(directory) / "edited", Path(directory) / "fresh"
        shutil.copytree(sample, edited)
        shutil.copytree(sample, fresh)
        (record,) = (edited / ".waza" / "results").glob("*.json")
        for texts, opened, asked in steps:
            # A file that is there no more cannot be open.
            overlays = {edited / name: text for name in opened if (text := texts[name]) is not None}
            write(edited, {name: text for name, text in texts.items() if edited / name not in overlays})
            write(fresh, texts)
            # An eval file must lie on the disk for its suite to be found.
            suite = {"suite": edited / "eval.yaml"}
            live = told(resident, record, overlays=overlays, **suite, **asked)
            with ResidentSuites() as once:
                other = fresh / record.relative_to(edited)
                assert live == told(once, other, suite=fresh / "eval.yaml", **asked)


def test_an_edit_of_one_grader_loads_no_task_and_builds_no_other_grader(
    tmp_path: Path, suites: ResidentSuites
) -> None:
    path = write_suite(tmp_path, {name: task(name) for name in "abcdef"}, graders=GREETS + LONG)
    record = recorded(path)
    grade(suites, record)
    suite = suites.suite(path)
    assert (suite.files.loads, suite.graders.builds) == (7, 2)
    edited = path.read_text().replace("[hello]", "[nothing]")
    found = grade(suites, record, overlays={path: edited}, graders=["greets"])
    assert not found["passed"]
    assert (suite.files.loads, suite.graders.builds) == (8, 3)
    assert not grade(suites, record, overlays={path: edited + "# a comment\n"})["passed"]
    assert (suite.files.loads, suite.graders.builds) == (9, 3)


def test_an_edit_of_one_task_loads_that_task(tmp_path: Path, suites: ResidentSuites) -> None:
    path = write_suite(tmp_path, {name: task(name) for name in "abcdef"}, graders=GREETS)
    record = recorded(path)
    grade(suites, record)
    suite = suites.suite(path)
    edited = task("c", "expected: {output_contains: [nothing of the kind]}\n")
    found = grade(suites, record, overlays={tmp_path / "tasks" / "c.yaml": edited})
    assert {name for name, each in found["tasks"].items() if not each["passed"]} == {"c"}
    assert (suite.files.loads, suite.graders.builds) == (8, 1)


def test_a_file_that_is_saved_is_seen_by_its_stamp(
    tmp_path: Path, suites: ResidentSuites, later: None
) -> None:
    path = write_suite(tmp_path, {name: task(name) for name in "abc"}, graders=GREETS)
    record = recorded(path)
    assert grade(suites, record)["passed"]
    path.write_text(path.read_text().replace("[hello]", "[never]"))
    assert not grade(suites, record)["passed"]
    assert suites.suite(path).files.loads == 5


def test_a_record_is_read_again_when_it_is_another_or_was_reviewed(
    tmp_path: Path, suites: ResidentSuites, later: None
) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    record = recorded(path)
    assert grade(suites, record)["passed"]
    assert suites.recording(record) is suites.recording(record)
    record.write_text(record.read_text().replace("hello", "adieu"))
    assert not grade(suites, record)["passed"]
    before = suites.recording(record)
    (tmp_path / "reviews.jsonl").write_text("")
    assert suites.recording(record) is not before


def test_numbers_that_are_written_otherwise_are_other_graders() -> None:
    cache = GraderCache()
    for written in (1, 1.0, True, "1", 1):
        cache.create(GraderEntry(type="keyword", config={"keywords": [written]}))
    assert cache.builds == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("schema.json", '{"type": "string"}'),
        ("parts.json", '{"type": "string"}'),
    ],
)
def test_a_schema_and_what_it_refers_to_are_read_as_they_are_open(
    tmp_path: Path, suites: ResidentSuites, name: str, text: str
) -> None:
    schema = "- {type: json_schema, name: shape, config: {schema_file: schema.json}}\n"
    path = write_suite(tmp_path, {"a": task("a")}, graders=schema)
    (tmp_path / "schema.json").write_text('{"$ref": "parts.json"}')
    (tmp_path / "parts.json").write_text('{"type": "object"}')
    record = recorded(path)
    record.write_text(record.read_text().replace('"final_output": "', '"final_output": "{}", "was": "'))
    for _ in range(2):
        assert grade(suites, record)["tasks"]["a"]["graders"]["shape"]["passed"]
        overlays = {tmp_path / name: text}
        assert not grade(suites, record, overlays=overlays)["tasks"]["a"]["graders"]["shape"]["passed"]
    (tmp_path / name).write_text(text)
    assert not grade(suites, record)["tasks"]["a"]["graders"]["shape"]["passed"]


def test_a_snapshot_is_read_as_it_is_open_and_what_the_agent_left_is_not(
    tmp_path: Path, suites: ResidentSuites
) -> None:
    diff = "- {type: diff, name: same, config: {expected_files: [{path: a.txt, snapshot: want.txt}]}}\n"
    path = write_suite(tmp_path / "suite", {"a": task("a")}, graders=diff)
    record = recorded(path)
    workspace = tmp_path / "left"
    workspace.mkdir()
    (workspace / "a.txt").write_text("done")
    wanted = tmp_path / "suite" / "want.txt"

    def same(**overlays: str) -> bool:
        texts = {tmp_path / "suite" / "want.txt": overlays["snapshot"]} if "snapshot" in overlays else {}
        texts |= {workspace / "a.txt": overlays["left"]} if "left" in overlays else {}
        found = grade(suites, record, workspace=workspace, overlays=texts)
        return bool(found["tasks"]["a"]["graders"]["same"]["passed"])

    assert [same(), same(snapshot="done"), same(snapshot="other")] == [False, True, False]
    wanted.write_text("done")
    assert [same(), same(left="other"), same(snapshot="other")] == [True, True, False]


def test_one_worker_serves_all_gradings_and_a_dead_one_is_replaced(
    tmp_path: Path, suites: ResidentSuites
) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=LONG)
    record = recorded(path)
    workers = suites.suite(path).workers
    assert grade(suites, record)["passed"]
    (first,) = workers.process_ids()
    assert grade(suites, record)["passed"]
    assert workers.process_ids() == [first]
    psutil.Process(first).kill()
    psutil.Process(first).wait()
    assert grade(suites, record)["passed"]
    (second,) = workers.process_ids()
    assert second != first
    process = psutil.Process(second)
    suites.close()
    assert staying([process]) == []


def test_workers_that_nobody_needs_end() -> None:
    workers = GradingWorkers(idle_seconds=0.2)
    with workers.lent(RunCancellation()) as lent:
        assert lent.assertions.evaluate(["True"], {})[0].passed
        processes = [psutil.Process(pid) for pid in lent.process_ids()]
    assert len(processes) == 1
    assert staying(processes) == []
    with workers.lent(RunCancellation()) as lent:
        assert lent.assertions.evaluate(["True"], {})[0].passed
    workers.close()
    assert workers.process_ids() == []


def test_cancelling_one_grading_ends_its_workers_and_no_other_grading(
    tmp_path: Path, suites: ResidentSuites
) -> None:
    never = "re.match('(a+)+$', 'a' * 60 + 'b')"
    hangs = f'- {{type: code, name: hangs, config: {{assertions: ["{never}"]}}}}\n'
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS + LONG)
    record = recorded(path)
    cancellation = RunCancellation()
    hanging = prepare_regrading(RegradeRequest(record, overlays={path: path.read_text() + hangs}), suites)
    ended = list[object]()

    def work() -> None:
        try:
            ended.append(graded(hanging, cancellation))
        except CancelledRunError as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert grade(suites, record)["passed"]
    cancellation.request()
    thread.join(ON_A_BUSY_MACHINE)
    assert [type(end) for end in ended] == [CancelledRunError]
    assert grade(suites, record)["passed"]


def test_of_many_suites_the_one_asked_for_longest_ago_goes(tmp_path: Path) -> None:
    with ResidentSuites(most=2) as suites:
        records = [recorded(write_suite(tmp_path / name, {"a": task("a")}, graders=LONG)) for name in "xyz"]
        grade(suites, records[0])
        (pid,) = suites.suite(tmp_path / "x" / "eval.yaml").workers.process_ids()
        process = psutil.Process(pid)
        grade(suites, records[1])
        assert process.is_running()
        grade(suites, records[2])
        assert staying([process]) == []
        assert grade(suites, records[0])["passed"]
