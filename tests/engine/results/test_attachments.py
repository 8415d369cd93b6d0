"""Long texts of a run stand once, beside the result file, and come back when somebody grades again."""

import json
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.engine.executors.agents import write_agent
from tests.engine.suites import newest, recorded, run, task, write_suite
from waza_engine.results.attachments import LONGEST_INLINE, attachment_directory, mark_of, with_attachments
from waza_engine.results.reading.recordings import read_recording

pytestmark = pytest.mark.check

CONFIG = "config: {trials_per_task: TRIALS, timeout_seconds: 60, executor: command, adapter: adapter.json}\n"
GRADERS = "- {type: text, name: ends, config: {contains: [the end]}}\n"
LENGTH = 2 * LONGEST_INLINE


def suite(directory: Path, length: int = LENGTH, trials: int = 3) -> Path:
    script = (
        f"said = 'x' * {length} + ' the end'\nsay(type='text', text=said)\nsay(type='result', content=said)"
    )
    write_agent(directory, script)
    return write_suite(
        directory, {"a": task("a")}, graders=GRADERS, config=CONFIG.replace("TRIALS", str(trials))
    )


def test_answers_of_many_megabytes_are_read_again(tmp_path: Path) -> None:
    report, _ = run(suite(tmp_path, 15_000_000, 1))
    assert report.results_file is not None
    assert report.results_file.stat().st_size < 1_000_000
    found = engine("report", tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert "1 of 1 task passed" in found.stdout


def test_an_answer_stands_once_and_graders_see_all_of_it_again(tmp_path: Path) -> None:
    record = recorded(suite(tmp_path))
    kept = list(attachment_directory(record).iterdir())
    assert [place.stat().st_size for place in kept] == [LENGTH + len(" the end")]
    outcome = read_recording(record).tasks[0].trials[0].outcome
    assert outcome.output == "x" * LENGTH + " the end"
    assert engine("grade", tmp_path).returncode == 0


def test_a_short_answer_stands_in_the_file(tmp_path: Path) -> None:
    record = recorded(suite(tmp_path, 1000))
    assert not attachment_directory(record).exists()


def test_copies_have_their_texts_beside_them(tmp_path: Path) -> None:
    path = suite(tmp_path)
    out = tmp_path / "out"
    assert engine("run", path, "-o", out / "copy.json").returncode == 0
    assert engine("grade", path, "-o", out / "graded.json").returncode == 0
    for copy in (out / "copy.json", out / "graded.json"):
        assert copy.stat().st_size < LONGEST_INLINE
        assert read_recording(copy).tasks[0].trials[2].outcome.output.endswith("the end")


def test_an_editor_reads_the_scores_without_the_texts(tmp_path: Path) -> None:
    run(suite(tmp_path))
    for place in tmp_path.rglob("*.attachments/*"):
        place.unlink()
    found = newest(tmp_path)
    assert found.tasks["a"].graders["ends"].passed


@pytest.mark.parametrize("content", [None, "another text"])
def test_a_mark_whose_file_is_gone_or_another_stays_a_text(tmp_path: Path, content: str | None) -> None:
    record = recorded(suite(tmp_path))
    (place,) = attachment_directory(record).iterdir()
    place.unlink() if content is None else place.write_text(content)
    output = read_recording(record).tasks[0].trials[0].outcome.output
    assert output == f"attachment:sha256:{place.stem} ({LENGTH + 8} characters)"


def test_an_answer_that_is_the_mark_of_another_one_is_not_taken_for_it(tmp_path: Path) -> None:
    path = suite(tmp_path)
    mark = mark_of("x" * LENGTH + " the end")[1]
    long = f"'x' * {LENGTH} + ' the end'"
    write_agent(tmp_path, f"say(type='result', content={mark!r} if 'mark' in sys.argv else {long})")
    (tmp_path / "tasks" / "b.yaml").write_text(task("b", prompt="mark"))
    outputs = [one.trials[0].outcome.output for one in read_recording(recorded(path)).tasks]
    assert [output == mark for output in outputs] == [False, True]
    assert engine("grade", tmp_path).returncode == 1


def test_no_mark_leads_to_another_folder(tmp_path: Path) -> None:
    attachment_directory(tmp_path / "r.json").mkdir()
    (tmp_path / "secret.txt").write_text("s")
    document = {"final_output": "attachment:sha256:../secret (1 characters)"}
    assert with_attachments(document, tmp_path / "r.json") is document


def test_a_journal_has_its_texts_too(tmp_path: Path) -> None:
    path = suite(tmp_path)
    (tmp_path / "tasks" / "b.yaml").write_text(task("b"))
    record = recorded(path)
    document = json.loads(record.read_text())
    journal = record.with_name(f"{record.stem}.partial.jsonl")
    header = {key: value for key, value in document.items() if key not in ("tasks", "summary")}
    journal.write_text(
        "\n".join(json.dumps(line) for line in (header, {"task": document["tasks"][0]})) + "\n"
    )
    assert read_recording(journal).tasks[0].trials[0].outcome.output.endswith("the end")


def replaying(path: Path, recording: Path) -> Path:
    text = path.read_text("utf-8").replace("executor: command", f"executor: replay, recording: {recording}")
    path.write_text(text, "utf-8")
    return path


def test_transcripts_have_their_long_texts_beside_them_and_can_be_replayed(tmp_path: Path) -> None:
    path = suite(tmp_path, trials=1)
    run(path, transcript_directory=tmp_path / "said")
    (transcript,) = (tmp_path / "said").glob("*.json")
    assert transcript.stat().st_size < LENGTH
    assert (tmp_path / "said" / f"{transcript.stem}.attachments").is_dir()
    report, _ = run(replaying(path, transcript))
    assert len(report.outcome.tasks[0].trials[0].output) == LENGTH + len(" the end")


def test_long_answers_to_trigger_prompts_stand_beside_the_file(tmp_path: Path) -> None:
    path = suite(tmp_path, trials=1)
    (tmp_path / "trigger_tests.yaml").write_text(
        "skill: writer\nshould_not_trigger_prompts: [{prompt: Go, reason: none}]\n", "utf-8"
    )
    record = recorded(path)
    assert record.stat().st_size < LENGTH
    again, _ = run(replaying(path, record))
    assert [len(prompt.output) for prompt in again.outcome.triggers] == [LENGTH + len(" the end")]
