"""Finished runs as OpenTelemetry traces, in upstream's tree: eval → task → turn → model and tool calls.

Architecture invariant: nothing is sent, and the packages of the extra ``otel`` are not imported, unless an
exporter was named. Prompts, answers, arguments and feedback are left out by default: a digest and a length
replace them. All strings are masked.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from waza_engine.executors.executor_types import installing
from waza_engine.masking import masked, masked_across
from waza_engine.results.json_values import plain
from waza_engine.results.record import RunOutcome, TaskOutcome, TrialOutcome
from waza_engine.results.writing.store import ResultsError, check_no_suite, write_output
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.terminal import complain, json_text, say_lines
from waza_engine.version import __version__
from waza_engine.vocabulary import ToolCall

EXPORTERS = ("otlp", "console", "stdout", "file")
"""``stdout`` is upstream's name of ``console``."""
LISTENERS = "waza_engine.listeners"
"""The entry-point group of functions that get the events of a run."""
_PATH = "/v1/traces"
_TIMEOUT_SECONDS = 10
_SYSTEMS = {"copilot-sdk": "github_copilot"}

Listener = Callable[[RunEvent], object]


@dataclass(frozen=True, slots=True)
class TelemetryOptions:
    """The options for telemetry and listeners.

    ``headers`` is upstream's ``k1=v1,k2=v2``. ``payloads`` adds prompts, answers, arguments and feedback.
    """

    exporter: str = ""
    endpoint: str = ""
    headers: str = ""
    file: Path | None = None
    payloads: bool = False
    listeners: Sequence[str] = ()


class Telemetry:
    """The exporter and the listeners of one command. Raises ``SuiteError`` for options that do not fit."""

    def __init__(self, options: TelemetryOptions, output_format: str = "text") -> None:
        self._options = options
        self._ended: dict[str, int] = {}
        self._lock = threading.Lock()
        if options.exporter in ("console", "stdout") and output_format in ("json", "jsonl"):
            raise SuiteError(
                f"`--format {output_format}` has the standard output; write `--otel-exporter file`."
            )
        self._listeners = {name: _loaded(name) for name in options.listeners}
        self._export = _exporter(options) if options.exporter else None
        if not options.exporter and (options.endpoint or options.headers or options.file or options.payloads):
            raise SuiteError("The other options of OpenTelemetry need `--otel-exporter otlp|console|file`.")

    def with_listeners(self, listener: Listener) -> Callable[[RunEvent], None]:
        """Return a listener that passes each event on to the named ones, too."""

        def tell(event: RunEvent) -> None:
            # Several suites may run at the same time.
            with self._lock:
                self._tell_others(event)
            listener(event)

        return tell

    def _tell_others(self, event: RunEvent) -> None:
        if event.kind == "ended":
            self._ended[event.run_id] = time.time_ns()
        for name, other in tuple(self._listeners.items()):
            try:
                other(event)
            except Exception as error:  # noqa: BLE001 - code of others must not end a run
                del self._listeners[name]
                complain(f"The listener `{name}` gets no more events: {type(error).__name__}: {error}")

    def export(self, outcomes: Iterable[RunOutcome]) -> None:
        """Export finished runs. A failure is reported, and changes no result."""
        if self._export is None:
            return
        try:
            for outcome in outcomes:
                ended = self._ended.get(outcome.header.run_id, time.time_ns())
                self._export(_spans(outcome, ended, payloads=self._options.payloads))
        except Exception as error:  # noqa: BLE001 - libraries raise what they like
            complain(f"The trace was not exported: {masked(str(error) or type(error).__name__)}")


def _loaded(name: str) -> Listener:
    found = importlib.metadata.entry_points(group=LISTENERS)
    if name not in found.names:
        known = ", ".join(sorted(found.names)) or "none"
        raise SuiteError(f"No installed package has the listener `{name}`; there are: {known}.")
    try:
        listener = found[name].load()
    except Exception as error:  # noqa: BLE001 - code of others
        raise SuiteError(f"The listener `{name}` cannot be loaded: {type(error).__name__}: {error}") from None
    if not callable(listener):
        raise SuiteError(f"The listener `{name}` must be a function that takes an event.")
    return listener


def _exporter(options: TelemetryOptions) -> Callable[[Sequence[Any]], None]:
    if options.exporter not in EXPORTERS:
        raise SuiteError(f"`--otel-exporter` must be otlp, console or file, not {options.exporter}.")
    if options.exporter == "file" and options.file is None:
        raise SuiteError("`--otel-exporter file` needs `--otel-file FILE`.")
    if options.file is not None:
        check_no_suite(options.file)
    try:
        importlib.import_module("opentelemetry.sdk.trace")
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        command = installing(["waza-language-server[otel]"])
        raise SuiteError(f"`--otel-exporter` needs packages that are not installed: {command}") from None
    if options.exporter == "otlp":
        exporter = OTLPSpanExporter(
            endpoint=_endpoint(options.endpoint), headers=_headers(options.headers), timeout=_TIMEOUT_SECONDS
        )
        return partial(_send, exporter)
    lines: list[str] = []
    return partial(_write, options.file if options.exporter == "file" else None, lines)


def _send(exporter: Any, spans: Sequence[Any]) -> None:
    from opentelemetry.sdk.trace.export import SpanExportResult

    # It logs each retry; one sentence at the end is enough.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    if exporter.export(spans) is not SpanExportResult.SUCCESS:
        raise OSError("the collector did not accept it; look at --otel-endpoint and --otel-headers")


def _write(file: Path | None, written: list[str], spans: Sequence[Any]) -> None:
    """Write a span a line. A file gets those of all runs of the command."""
    lines = [f"{span.to_json(indent=None)}\n" for span in spans]
    written += lines
    if file is None:
        say_lines("".join(lines))
        return
    try:
        write_output(file, "".join(written).encode())
    except ResultsError as error:
        raise OSError(str(error)) from None


def _endpoint(given: str) -> str | None:
    """Return the address of the collector, None for the environment's or the default one."""
    if not given:
        return None
    address = given if "://" in given else f"http://{given}"
    return address if "/" in address.partition("://")[2].rstrip("/") else address.rstrip("/") + _PATH


def _headers(given: str) -> dict[str, str] | None:
    pairs = [part.strip().partition("=") for part in given.split(",") if part.strip()]
    for name, equals, _ in pairs:
        if not equals or not name.strip():
            raise SuiteError("`--otel-headers` must be `name=value`, several with commas between them.")
    return {name.strip(): value.strip() for name, _, value in pairs} or None


def _spans(outcome: RunOutcome, ended_ns: int, *, payloads: bool) -> Sequence[Any]:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "waza", "service.version": __version__}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    _Tree(provider.get_tracer("waza_engine", __version__), outcome, payloads=payloads).add(ended_ns)
    return kept.get_finished_spans()


@dataclass(slots=True)
class _Turn:
    """A prompt and what the agent did until the next one."""

    prompt: str = ""
    answers: list[str] = field(default_factory=list[str])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])


class _Tree:
    """The spans of a run. A trial takes the time that it took, from the start of the run at the earliest."""

    def __init__(self, tracer: Any, outcome: RunOutcome, *, payloads: bool) -> None:
        self._tracer = tracer
        self._outcome = outcome
        self._payloads = payloads
        self._system = _SYSTEMS.get(outcome.header.executor, outcome.header.executor)

    def add(self, ended_ns: int) -> None:
        """Add the spans of the run, which ended at a time in nanoseconds since 1970."""
        header = self._outcome.header
        started = min(round(header.started.timestamp() * 1e9), ended_ns)
        values = {
            "waza.eval.name": header.eval_name,
            "waza.eval.skill": header.skill,
            "waza.eval.engine": header.executor,
            "waza.eval.run_id": header.run_id,
            "gen_ai.request.model": header.model,
        }
        root = self._start("waza.eval", None, values, started)
        turns = [[_turns(trial) for trial in task.trials] for task in self._outcome.tasks]
        if self._payloads:
            _mask_split([turn for trials in turns for trial in trials for turn in trial])
        for task, trials in zip(self._outcome.tasks, turns, strict=True):
            self._add_task(task, trials, root, started, ended_ns)
        self._end(root, self._outcome.message, ended_ns)

    def _add_task(
        self, task: TaskOutcome, trials: Sequence[Sequence[_Turn]], root: Any, started: int, ended: int
    ) -> None:
        values = {"waza.task.id": task.id, "waza.task.name": task.name, "waza.task.status": task.status}
        longest = max((trial.duration_ms for trial in task.trials), default=0) * 10**6
        end = min(started + longest, ended)
        span = self._start("waza.task", root, values, started)
        for trial, turns in zip(task.trials, trials, strict=True):
            for number, turn in enumerate(turns, 1):
                self._add_turn(trial, turn, number, span, started)
        for verdict in (verdict for trial in task.trials for verdict in _evaluations(trial)):
            span.add_event("gen_ai.evaluation.result", self._attributes(verdict), end)
        self._end(span, task.error, end)

    def _add_turn(self, trial: TrialOutcome, turn: _Turn, number: int, task: Any, started: int) -> None:
        values: dict[str, Any] = {
            "gen_ai.system": self._system,
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": self._outcome.header.model,
            "waza.turn.number": number,
            "waza.turn.trial": trial.number,
            "waza.turn.kind": "initial" if number == 1 else "follow_up",
            "waza.session.id": trial.session,
            **self._payload("gen_ai.prompt", "waza.prompt", turn.prompt),
            **self._payload("gen_ai.completion", "waza.completion", "\n\n".join(turn.answers)),
        }
        end = started + trial.duration_ms * 10**6
        span = self._start("waza.turn", task, values, started)
        for model in _models(trial, self._outcome.header.model) if number == 1 else ():
            self._end(
                self._start("waza.model_call", span, {**model, "gen_ai.system": self._system}, end), "", end
            )
        for call in turn.calls:
            called = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": call.name,
                "gen_ai.tool.call.id": call.id,
                "waza.tool.success": call.success,
                **self._payload("gen_ai.tool.arguments", "waza.tool.arguments", _json(call.arguments)),
                **self._payload("gen_ai.tool.result", "waza.tool.result", _json(call.result)),
            }
            failure = "" if call.success else "tool call reported failure"
            self._end(self._start("waza.tool_call", span, called, end), failure, end)
        self._end(span, trial.error, end)

    def _start(self, name: str, parent: Any, values: Mapping[str, Any], start: int) -> Any:
        # An empty context: a span of the environment is no parent of a run.
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        context = Context() if parent is None else set_span_in_context(parent, Context())
        return self._tracer.start_span(name, context, attributes=self._attributes(values), start_time=start)

    def _end(self, span: Any, failure: str, end: int) -> None:
        from opentelemetry.trace import Status, StatusCode

        if failure:
            span.set_status(Status(StatusCode.ERROR, masked(failure) if self._payloads else None))
        span.end(end)

    def _attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: masked(value) if isinstance(value, str) else value
            for key, value in values.items()
            if value not in ("", None) and (self._payloads or key != "gen_ai.evaluation.explanation")
        }

    def _payload(self, key: str, digest_key: str, text: str) -> dict[str, Any]:
        """Return a payload, or in its place a digest by which equal ones can be grouped."""
        if not text or self._payloads:
            return {key: text}
        content = text.encode("utf-8", "replace")
        return {
            f"{digest_key}.sha256": hashlib.sha256(content).hexdigest(),
            f"{digest_key}.length": len(content),
        }


def _evaluations(trial: TrialOutcome) -> Iterator[dict[str, Any]]:
    for name, verdict in (trial.validations or {}).items():
        label = "pass" if verdict.passed else "fail"
        yield {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": float(verdict.score) if verdict.status == "graded" else None,
            "gen_ai.evaluation.score.label": label if verdict.status == "graded" else verdict.status,
            "gen_ai.evaluation.explanation": verdict.feedback,
            "waza.grader.type": verdict.type,
            "waza.turn.trial": trial.number,
        }


def _models(trial: TrialOutcome, model: str) -> Iterator[dict[str, Any]]:
    usage = trial.usage
    if usage is None:
        return
    for name, counts in (usage.model_metrics or {model: usage}).items():
        yield {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": name,
            "gen_ai.usage.input_tokens": counts.input_tokens,
            "gen_ai.usage.output_tokens": counts.output_tokens,
            "gen_ai.usage.cache_read_tokens": counts.cache_read_tokens or None,
        }


def _turns(trial: TrialOutcome) -> list[_Turn]:
    turns: list[_Turn] = []
    calls = {call.id: call for call in trial.tool_calls or () if call.id}
    for event in trial.events:
        content = str(event.get("content") or "")
        if event.get("type") == "user.message":
            turns.append(_Turn(content))
        elif turns and event.get("type") == "assistant.message" and content:
            turns[-1].answers.append(content)
        elif turns and event.get("type") == "tool.execution_start":
            call = calls.pop(str(event.get("tool_call_id", "")), None)
            turns[-1].calls += [] if call is None else [call]
    turns = turns or [_Turn()]
    turns[-1].answers = turns[-1].answers or [trial.output]
    turns[-1].calls += [*calls.values(), *(call for call in trial.tool_calls or () if not call.id)]
    return turns


def _mask_split(turns: Sequence[_Turn]) -> None:
    """Mask secrets that are split over successive answers, whose spans are no longer adjacent."""
    masked_answers: list[list[str]] = masked_across([turn.answers for turn in turns])
    for turn, answers in zip(turns, masked_answers, strict=True):
        turn.answers = answers


def _json(value: object) -> str:
    if value in (None, "", {}):
        return ""
    return value if isinstance(value, str) else json_text(plain(value))
