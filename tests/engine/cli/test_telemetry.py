"""Runs as OpenTelemetry traces, decoded by a receiver on this machine, and listeners of other packages."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.engine.suites import GREETS, run, task, write_suite
from tests.hostile_peers import HostilePeer, hostile_peer
from waza_engine.commands.telemetry import Telemetry, TelemetryOptions
from waza_engine.masking import keep_secret
from waza_engine.results.record import RunOutcome
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.vocabulary import ToolCall, Usage

EXAMPLE = Path(__file__).parents[3] / "examples" / "run-listener"


@pytest.fixture
def collector() -> Iterator[HostilePeer]:
    """A receiver of OTLP over HTTP."""
    received = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with hostile_peer(lambda _: [received]) as peer:
        yield peer


@pytest.fixture
def outcome(tmp_path: Path) -> RunOutcome:
    """A run of one task; its trial has two prompts, a call and tokens."""
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    (done,) = report.outcome.tasks
    trial = replace(
        done.trials[0],
        events=(
            {"type": "user.message", "content": "Say hello"},
            {"type": "tool.execution_start", "tool_call_id": "1"},
            {"type": "assistant.message", "content": "Hello"},
            {"type": "user.message", "content": "Again"},
            {"type": "assistant.message", "content": "Hello top-secret-value"},
        ),
        tool_calls=(ToolCall("bash", {"command": "ls"}, "1", "a b", success=False),),
        usage=Usage(turns=2, input_tokens=10, output_tokens=3),
        duration_ms=1500,
    )
    return replace(report.outcome, tasks=(replace(done, trials=(trial,)),))


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def exported(collector: HostilePeer, outcome: RunOutcome, **options: Any) -> list[Any]:
    endpoint = collector.url.removeprefix("http://")
    Telemetry(TelemetryOptions("otlp", endpoint, **options)).export([outcome])
    head, _, body = collector.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/traces ")
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    return list(resource.scope_spans[0].spans)


def test_the_tree_is_upstreams(collector: HostilePeer, outcome: RunOutcome) -> None:
    spans = exported(collector, outcome, headers="x-key=abc, other = b")
    names = {span.span_id: span.name for span in spans}
    tree = sorted((names.get(span.parent_span_id, ""), span.name) for span in spans)
    assert tree == [
        ("", "waza.eval"),
        ("waza.eval", "waza.task"),
        ("waza.task", "waza.turn"),
        ("waza.task", "waza.turn"),
        ("waza.turn", "waza.model_call"),
        ("waza.turn", "waza.tool_call"),
    ]
    by_name = {span.name: span for span in spans}
    assert attributes(by_name["waza.model_call"])["gen_ai.usage.input_tokens"] == 10
    assert attributes(by_name["waza.tool_call"])["gen_ai.tool.name"] == "bash"
    assert by_name["waza.tool_call"].status.code == 2
    turn = by_name["waza.turn"]
    assert turn.end_time_unix_nano - turn.start_time_unix_nano == 1_500_000_000
    (event, *_) = by_name["waza.task"].events
    assert event.name == "gen_ai.evaluation.result"
    score = attributes(event)
    assert score["gen_ai.evaluation.score.value"] in (0.0, 1.0)
    assert score["gen_ai.evaluation.score.label"] in ("pass", "fail")
    (request,) = collector.requests
    assert {b"x-key: abc", b"other: b"} <= set(request.partition(b"\r\n\r\n")[0].splitlines())


def test_payloads_are_left_out_unless_they_are_asked_for(collector: HostilePeer, outcome: RunOutcome) -> None:
    spans = exported(collector, outcome)
    sent = str(spans)
    assert not [text for text in ("Say hello", "Hello", "ls", "a b", "explanation") if f'"{text}' in sent]
    turns = [attributes(span) for span in spans if span.name == "waza.turn"]
    assert {turn["waza.prompt.length"] for turn in turns} == {9, 5}


def test_payloads_that_are_asked_for_are_masked(collector: HostilePeer, outcome: RunOutcome) -> None:
    keep_secret("top-secret-value")
    spans = exported(collector, outcome, payloads=True)
    texts = {text for span in spans for text in attributes(span).values() if isinstance(text, str)}
    assert {"Say hello", "Again", "Hello", '{"command": "ls"}', "a b"} <= texts
    assert "top-secret-value" not in str(spans)


@pytest.mark.parametrize("size", [6, 9, 12])
def test_a_secret_that_is_split_over_answers_is_in_no_span(
    tmp_path: Path, outcome: RunOutcome, size: int
) -> None:
    secret = "sk-Proj4f8Qz7LmN2xR9vT6wY3b"
    keep_secret(secret)
    parts = [secret[at : at + size] for at in range(0, len(secret), size)]
    (found,) = outcome.tasks
    trials = [
        replace(found.trials[0], number=number, output=part, events=(), tool_calls=())
        for number, part in enumerate(parts, 1)
    ]
    file = tmp_path / "spans.jsonl"
    whole = replace(outcome, tasks=(replace(found, trials=trials),))
    Telemetry(TelemetryOptions(exporter="file", file=file, payloads=True)).export([whole])
    assert [part for part in parts if part in file.read_text()] == []


def test_a_file_has_the_spans_of_all_runs(tmp_path: Path, outcome: RunOutcome) -> None:
    file = tmp_path / "spans.jsonl"
    Telemetry(TelemetryOptions("file", file=file)).export([outcome, outcome])
    spans = [json.loads(line) for line in file.read_text().splitlines()]
    assert [span["name"] for span in spans].count("waza.eval") == 2


@pytest.mark.parametrize(
    ("options", "format_", "why"),
    [
        ({"exporter": "zipkin"}, "text", "must be otlp, console or file"),
        ({"exporter": "file"}, "text", "needs `--otel-file FILE`"),
        ({"exporter": "console"}, "jsonl", "has the standard output"),
        ({"exporter": "otlp", "headers": "key"}, "text", "`name=value`"),
        ({"payloads": True}, "text", "need `--otel-exporter"),
        ({"listeners": ("nobody",)}, "text", "has the listener `nobody`"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], format_: str, why: str) -> None:
    with pytest.raises(SuiteError, match=why):
        Telemetry(TelemetryOptions(**options), format_)


def test_the_listener_of_a_package_gets_the_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    ((name, target),) = project["entry-points"]["waza_engine.listeners"].items()
    info = tmp_path / "packages" / "example-1.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(f"[waza_engine.listeners]\n{name} = {target}\n")
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.chdir(tmp_path)
    heard: list[RunEvent] = []
    tell = Telemetry(TelemetryOptions(listeners=(name,))).with_listeners(heard.append)
    events = [
        RunEvent("r", 1, "graded", task="a", grader="says", passed=passed, message="no")
        for passed in (True, False)
    ]
    for event in events:
        tell(event)
    assert (tmp_path / "failures.log").read_text() == "a says: no\n"
    assert heard == events


def test_a_listener_that_raises_ends_no_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(event: RunEvent) -> float:
        return event.sequence / 0

    def loaded(name: str) -> object:
        del name
        return fail

    monkeypatch.setattr("waza_engine.commands.telemetry._loaded", loaded)
    heard: list[RunEvent] = []
    tell = Telemetry(TelemetryOptions(listeners=("odd",))).with_listeners(heard.append)
    for number in (1, 2):
        tell(RunEvent("r", number, "started"))
    assert len(heard) == 2
    assert capsys.readouterr().err.count("`odd` gets no more events: ZeroDivisionError") == 1
