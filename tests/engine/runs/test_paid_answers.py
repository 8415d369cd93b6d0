"""A paid answer is in the journal before its turn goes on, and in the record whatever ends the run."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.executors.agents import adapter
from tests.engine.runs.test_interruptions import FOLLOW_UP, SAYS, cancelled_at, config
from tests.engine.suites import present, task, write_prompts, write_suite
from tests.scripted_model import Answer, Held, ModelRequest, Reply, ScriptedModel, Tokens, call
from waza_engine.executors.adapter.command_turn import Turn
from waza_engine.executors.copilot.events import TurnRecord
from waza_engine.executors.executor import Cancellation, ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.codec.trials import usage_of
from waza_engine.results.reading.formats import document_in, read_document
from waza_engine.results.reading.journals import unended_document
from waza_engine.results.record import RunOutcome, TrialOutcome
from waza_engine.results.reports.result_page import trial_sections
from waza_engine.results.writing.store import ResultsError, ResultStore
from waza_engine.runs.limits.budget import Meter, MeteredExecutor, Tally
from waza_engine.runs.limits.cancellation import CancelledRunError, RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import Budget, RunSettings
from waza_engine.scoring.cost import Cost, Spending
from waza_engine.spec.adapter import AdapterFile
from waza_engine.vocabulary import PaidAnswer, ToolCall, Usage

JUDGE = "- {type: prompt, name: judge, config: {prompt: Judge it.}}\n"
LOOKS = Answer("I look.", calls=[call("glob")], usage=Tokens(90, 10))


def journal_of(suite: Path) -> list[dict[str, Any]]:
    (path,) = (suite.parent / ".waza" / "results").glob("*.partial.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def killed_at(request: int, model: ScriptedModel, path: Path) -> RunOutcome:
    """Return what is known of a run that is killed when a request has arrived, after it was cancelled."""
    known: list[RunOutcome] = []

    def look() -> None:
        model.wait_for_requests(request)
        (journal,) = (path.parent / ".waza" / "results").glob("*.partial.jsonl")
        known.append(run_of(unended_document(read_document(journal) or {}, "the run was interrupted")))
        cancellation.request()

    cancellation = RunCancellation()
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    prepare(RunSettings(path)).run(lambda _: None, cancellation)
    looking.join()
    return known[0]


Ending = Callable[[int, ScriptedModel, Path], RunOutcome]


@pytest.fixture(params=[cancelled_at, killed_at], ids=["cancelled", "killed"])
def ended_at(request: pytest.FixtureRequest) -> Ending:
    return request.param


def only_trial(outcome: RunOutcome) -> TrialOutcome:
    (found,) = outcome.tasks
    (trial,) = found.trials
    assert trial.stopped
    return trial


def spent(outcome: RunOutcome) -> Spending:
    return present(outcome.spending)


def tokens(usage: Usage | None) -> int:
    return 0 if usage is None else usage.input_tokens + usage.output_tokens


def test_the_answers_of_a_turn_that_has_no_end_are_kept(
    ended_at: Ending, scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(LOOKS, LOOKS, Held())
    settings = config(model, "workspace_tools: [list]")
    found = ended_at(3, model, write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=settings))
    trial = only_trial(found)
    assert trial.output == "I look.\nI look."
    assert tokens(trial.usage) == 200
    assert trial.cost is not None
    assert trial.cost.usd > 0
    assert spent(found).tokens == 200
    assert spent(found).cost.usd == pytest.approx(trial.cost.usd)


def test_the_answers_of_a_judge_that_has_not_decided_are_kept(
    ended_at: Ending, scripted_model: StartModel, tmp_path: Path
) -> None:
    doubts = Answer("Let me see.", calls=[call("set_waza_grade_pass", reason="good")], usage=Tokens(40, 2))
    model = scripted_model(Answer("fine", usage=Tokens(90, 10)), doubts, Held())
    path = write_suite(tmp_path, {"a": task("a")}, graders=JUDGE, config=config(model))
    found = ended_at(3, model, path)
    trial = only_trial(found)
    assert (trial.output, tokens(trial.usage), tokens(trial.judge_usage)) == ("fine", 100, 42)
    (unjudged,) = trial.unjudged
    assert unjudged.by == "judge"
    assert unjudged.text.startswith("Let me see.\nset_waza_grade_pass {")
    page = "\n".join(trial_sections(trial, "", ""))
    assert "Paid for and not judged: of the judge" in page
    assert "Let me see." in page
    assert spent(found).tokens == 142


def test_the_decision_of_a_responder_is_kept(
    ended_at: Ending, scripted_model: StartModel, tmp_path: Path
) -> None:
    reply = Answer(calls=[call("responder_reply", answer="Go on.")], usage=Tokens(7, 3))
    model = scripted_model(Answer("fine", usage=Tokens(90, 10)), reply, Held())
    inputs = "id: a\ninputs: {prompt: one, responder: {instructions: Reply., max_followups: 2}}\n"
    path = write_suite(tmp_path, {"a": inputs}, graders=SAYS, config=config(model))
    found = ended_at(3, model, path)
    trial = only_trial(found)
    assert (tokens(trial.usage), tokens(trial.other_usage)) == (100, 10)
    assert [answer.by for answer in trial.unjudged] == ["responder"]


def test_the_answer_of_another_attempt_is_kept_beside_the_verdict(
    ended_at: Ending, scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(Answer("bad", usage=Tokens(90, 10)), LOOKS, Held())
    settings = config(model, "max_attempts: 3, workspace_tools: [list]")
    found = ended_at(3, model, write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=settings))
    (trial,) = found.tasks[0].trials
    assert sum(map(tokens, (trial.usage, trial.other_usage))) == 200
    assert spent(found).tokens == 200
    said = (trial.output, *(answer.text for answer in trial.unjudged), *map(str, trial.events))
    assert any("I look." in text for text in said)


def test_a_second_turn_adds_to_the_first(
    ended_at: Ending, scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(Answer("fine", usage=Tokens(90, 10)), LOOKS, Held())
    path = write_suite(
        tmp_path, {"a": FOLLOW_UP}, graders=SAYS, config=config(model, "workspace_tools: [list]")
    )
    trial = only_trial(ended_at(3, model, path))
    assert (trial.output, tokens(trial.usage)) == ("I look.", 200)
    assert [event["content"] for event in trial.events if event["type"] == "assistant.message"] == [
        "fine",
        "I look.",
    ]


def test_what_was_answered_to_a_trigger_prompt_is_kept(
    ended_at: Ending, scripted_model: StartModel, tmp_path: Path
) -> None:
    def answer(request: ModelRequest) -> Reply:
        if request.prompt != "try":
            return Answer("fine", usage=Tokens(90, 10))
        return LOOKS if not request.tool_results else Held()

    model = scripted_model(answer)
    settings = config(model, "workspace_tools: [list]")
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=settings)
    write_prompts(tmp_path, "try")
    found = ended_at(3, model, path)
    assert spent(found).tokens == 200
    assert not found.triggers
    (unjudged,) = found.unjudged
    assert (unjudged.prompt, unjudged.text.splitlines()[0]) == ("try", "I look.")


def test_an_answer_is_in_the_journal_when_the_model_is_asked_again(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    seen: list[list[dict[str, Any]]] = []

    def reply(request: ModelRequest) -> Reply:
        if not request.tool_results:
            return LOOKS
        seen.append(journal_of(path))
        return "fine"

    model = scripted_model(reply)
    path = write_suite(
        tmp_path, {"a": task("a")}, graders=SAYS, config=config(model, "workspace_tools: [list]")
    )
    prepare(RunSettings(path)).run(lambda _: None, RunCancellation())
    (answer,) = [line["answer"] for line in seen[0] if "answer" in line]
    assert (answer["test_id"], answer["run_number"], answer["by"]) == ("a", 1, "agent")
    assert answer["text"] == "I look."
    assert answer["cost"]["usd"] > 0
    assert tokens(usage_of(answer["usage"])) == 100


def test_answers_count_once_whatever_line_holds_them() -> None:
    def line(**answer: Any) -> dict[str, Any]:
        return {"answer": {"by": "agent", "test_id": "a", "run_number": 1, **answer}}

    begun = {"test_id": "a", "run": {"run_number": 1, "stopped": True}}
    lines = [
        {"eval_id": "x"},
        line(text="one"),
        {"trial": begun},
        line(text="two"),
        line(text="other", baseline=True),
        line(text="second", run_number=2),
        {"baseline_task": {"test_id": "a"}},
        line(text="late", baseline=True),
    ]
    content = b"\n".join(json.dumps(each).encode() for each in lines)
    document = present(document_in(content, json.loads, journal=True))
    assert [answer["text"] for answer in document["answers"]] == ["two", "second", "late"]


def paid_by(act: Callable[[Callable[[PaidAnswer], None]], object]) -> list[PaidAnswer]:
    heard: list[PaidAnswer] = []
    act(heard.append)
    return heard


@pytest.mark.parametrize("pieces", [False, True], ids=["whole messages", "pieces of messages"])
def test_a_command_tells_what_has_arrived(pieces: bool) -> None:
    extension = {"message_chunks": pieces, "usage": {"output_tokens": "$.tokens"}}
    described = AdapterFile.model_validate(adapter(**{"x-waza": extension}))
    events = [
        {"type": "text", "text": "I look."},
        {"type": "tool", "name": "look", "status": "completed", "id": "1", "input": {"path": "a"}},
        {"type": "text", "text": "It is "},
        {"type": "text", "text": "fine."},
        {"type": "result", "content": "Done.", "tokens": 7},
    ]

    def turn(paid: Callable[[PaidAnswer], None]) -> None:
        made = Turn(described, new_id=lambda: "x", on_answer=paid, model="m")
        for event in events:
            made.take(json.dumps(event).encode())

    heard = paid_by(turn)
    said = ["It is fine.\nDone."] if pieces else ["It is ", "fine.", "Done."]
    assert [answer.text for answer in heard if answer.text] == ["I look.", *said]
    assert [tokens(answer.usage) for answer in heard if answer.usage] == [7]


def test_copilot_tells_what_has_arrived() -> None:
    def turn(paid: Callable[[PaidAnswer], None]) -> None:
        record = TurnRecord(on_answer=paid)
        record.add("assistant.message", {"content": "I look."})
        record.add("assistant.usage", {"inputTokens": 90, "outputTokens": 10, "model": "m"})
        record.add("tool.execution_start", {"toolCallId": "1", "toolName": "look"})

    said, used, called = paid_by(turn)
    assert said == PaidAnswer("I look.")
    assert tokens(used.usage) == 100
    assert called == PaidAnswer(calls=(ToolCall("look", {}, "1"),))


@pytest.mark.parametrize("line", ["add_asked", "add_answer"])
def test_nothing_is_asked_once_a_line_of_the_journal_could_not_be_written(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ResultsError("Results cannot be written to a full disk.")

    model = scripted_model(lambda _: Answer("fine", usage=Tokens(90, 10)))
    tasks = {name: task(name, prompt=name) for name in "abc"}
    path = write_suite(tmp_path, tasks, graders=JUDGE, config=config(model, "parallel: true, workers: 1"))
    write_prompts(tmp_path, "p")
    monkeypatch.setattr(ResultStore, line, fails)
    report = prepare(RunSettings(path)).run(lambda _: None, RunCancellation())
    assert [request.prompt for request in model.requests] == ["a"][: line == "add_answer"]
    assert "The run ends here, for nothing more could be kept." in report.outcome.message
    assert report.outcome.limit == ""


class Telling:
    """An executor that tells of an answer and then breaks, hangs or responds."""

    name, library, warnings = "telling", "", ()
    answers_triggers, has_model, costs, reports_cost = False, True, True, False

    def __init__(self, then: Callable[[], ExecutionResponse]) -> None:
        self._then = then

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        del cancellation
        request.on_answer(PaidAnswer("half", usage=Usage(input_tokens=5)))
        return self._then()

    def close(self) -> None:
        pass


def breaks() -> ExecutionResponse:
    raise ExecutorError("it broke")


def test_what_a_call_used_that_responds_is_counted_once(tmp_path: Path) -> None:
    meter = Meter(Budget())
    executor = MeteredExecutor(Telling(lambda: ExecutionResponse("", usage=Usage(input_tokens=8))), meter)
    tally = Tally(executor)
    tally.execute(ExecutionRequest("", tmp_path), RunCancellation())
    assert (meter.tokens, tokens(tally.usage), tally.arrived) == (8, 8, ())


def test_what_a_call_used_that_breaks_is_counted(tmp_path: Path) -> None:
    meter = Meter(Budget())
    tally = Tally(MeteredExecutor(Telling(breaks), meter))
    with pytest.raises(ExecutorError):
        tally.execute(ExecutionRequest("", tmp_path), RunCancellation())
    assert (meter.tokens, tokens(tally.usage)) == (5, 5)
    assert [answer.text for answer in tally.arrived] == ["half"]


def test_a_cancelled_run_waits_for_usage_that_another_thread_is_counting(tmp_path: Path) -> None:
    order: list[str] = []

    class Slow(Meter):
        def count(self, usage: Usage | None, cost: Cost, *, must_report: bool) -> None:
            waiting = threading.Thread(target=lambda: (cancellation.request(), waiting_run.join(0.2)))
            waiting.start()
            waiting.join()
            super().count(usage, cost, must_report=must_report)
            order.append("counted")

    def run() -> None:
        request = ExecutionRequest("", tmp_path)
        with pytest.raises(CancelledRunError):
            MeteredExecutor(Telling(breaks), Slow(Budget())).execute(request, cancellation)
        order.append("ended")

    cancellation = RunCancellation()
    waiting_run = threading.Thread(target=run)
    waiting_run.start()
    waiting_run.join()
    assert order == ["counted", "ended"]


def test_a_full_disk_is_told_and_not_raised_in_the_turn(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise ResultsError("The disk is full.")

    monkeypatch.setattr(ResultStore, "add_answer", full)
    model = scripted_model("fine")
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=config(model))
    report = prepare(RunSettings(path)).run(lambda _: None, RunCancellation())
    assert "The disk is full." in (report.write_error + report.outcome.message)
