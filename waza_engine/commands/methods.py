"""The methods that an editor calls: list and describe suites, run them, follow runs, grade records again."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from waza_engine.commands import reading, review_methods
from waza_engine.commands.cluster import ChosenCluster
from waza_engine.commands.harness_methods import HarnessMethods
from waza_engine.commands.live import LiveSessions
from waza_engine.commands.parameters import (
    Params,
    count_param,
    list_param,
    only_known,
    optional_text,
    path_param,
    refused,
    remark_param,
    run_settings,
    single_param,
    text_param,
    texts_param,
)
from waza_engine.commands.reading import eval_path, loaded
from waza_engine.commands.regraded import answer, graded
from waza_engine.commands.result_arguments import RUN_FIRST, record_of
from waza_engine.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import AlreadyResumedError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.regrading.regrade import RegradeRequest, Regrading, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.runs.run import PreparedRun
from waza_engine.scaffold.file_changes import ScaffoldError, check_free, write_content, write_files
from waza_engine.scaffold.grader import with_grader
from waza_engine.scaffold.suite_from_skill import EVAL_NAME, new_suite
from waza_engine.scaffold.task import new_task, why_no_task
from waza_engine.usable_text import why_unusable
from waza_engine.vocabulary import Target

log = logging.getLogger(__name__)
_MOST_ENDED = 100
_GRADE_PARAMS = (
    "record",
    "suite",
    "task",
    "grader",
    "graders",
    "workspace",
    "judge_executor",
    "judge_model",
    "overlays",
)
_STRENGTH_PARAMS = ("record", "suite", "task", "grader", "overlays")

Answer = dict[str, Any]


@dataclass(slots=True)
class _Run:
    prepared: PreparedRun | None
    cluster: ChosenCluster
    cancellation: RunCancellation = field(default_factory=RunCancellation)
    status: str = "running"
    has_closed: bool = False
    error: str = ""
    results_file: str = ""


class Methods:
    """The methods and the runs of one connection.

    ``on_event`` gets the document of every run event, ``on_verdicts`` that of verdicts of live sessions.
    """

    def __init__(
        self, on_event: Callable[[Answer], None], on_verdicts: Callable[[Answer], None] = lambda _: None
    ) -> None:
        self._on_event = on_event
        self._live = LiveSessions(on_verdicts)
        self._lock = threading.Lock()
        self._runs: dict[str, _Run] = {}
        self._waiting: set[str] = set()
        self._regradings: set[RunCancellation] = set()
        self._suites = ResidentSuites()
        self._harness = HarnessMethods()
        self.table: dict[str, Callable[[Any], Callable[[], Answer]]] = {
            "eval.run": _guarded(self._run),
            "run.estimate": _guarded(reading.estimate),
            "run.affected": _guarded(reading.affected),
            "run.status": _guarded(self._status),
            "run.cancel": _guarded(self._cancel),
            "eval.list": _guarded(reading.list_evals),
            "eval.get": _guarded(reading.get_eval),
            "eval.validate": _guarded(reading.validate_eval),
            "task.list": _guarded(reading.list_tasks),
            "task.get": _guarded(reading.get_task),
            "grader.grade": _guarded(self._grade),
            "grader.strength": _guarded(self._strength),
            "live.open": _guarded(self._open_live),
            "live.update": self._update_live,
            "live.explain": _guarded(_loading(self._live.explain)),
            "live.fixes": _guarded(_loading(self._live.fixes)),
            "live.trial": _guarded(_loading(self._live.trial)),
            "live.graders": _guarded(_loading(self._live.graders)),
            "live.close": _guarded(self._live.close),
            "grader.types": _guarded(reading.grader_types),
            "model.prices": _guarded(reading.model_prices),
            "result.page": _guarded(reading.result_page),
            "result.runs": _guarded(reading.result_runs),
            "result.history": _guarded(reading.result_history),
            "review.list": _guarded(review_methods.list_reviews),
            "review.add": _guarded(review_methods.add_review),
            "eval.new": _guarded(make_suite),
            "eval.convert": _guarded(convert_suite),
            "task.new": _guarded(make_task),
            "task.check": _guarded(check_task),
            "task.save": _guarded(save_task),
            "grader.new": _guarded(make_grader),
            "harness.run": _guarded(self._harness.run),
            "harness.cancel": _guarded(self._harness.cancel),
        }

    @property
    def running(self) -> bool:
        """Return whether a run or its cluster, or a re-grading, is still active."""
        with self._lock:
            started = (run for name, run in self._runs.items() if name not in self._waiting)
            return (
                bool(self._regradings) or self._harness.running or not all(run.has_closed for run in started)
            )

    def cancel_all(self) -> None:
        """Cancel every run, and whatever is being graded again."""
        with self._lock:
            cancellations = [run.cancellation for run in self._runs.values()]
            cancellations += self._regradings
        for cancellation in cancellations:
            cancellation.request()
        self._harness.cancel_all()

    def close(self) -> None:
        """Drop everything that was cached for the next request."""
        self._suites.close()
        self._live.close_all()

    def answered(self, message: Mapping[str, Any]) -> None:
        """Start the run whose id was just sent: no event may come before the answer to ``eval.run``."""
        result: object = message.get("result")
        run_id = cast("Params", result).get("run_id") if isinstance(result, Mapping) else None
        with self._lock:
            if run_id not in self._waiting:
                return
            self._waiting.discard(run_id)
            run = self._runs[run_id]
        threading.Thread(target=self._execute, args=(run,), daemon=True).start()

    def _run(self, params: Params) -> Answer:
        settings = run_settings(params, eval_path)
        cluster = loaded(lambda: ChosenCluster(settings.cluster, None))
        prepared = loaded(lambda: prepare(settings, backend=cluster.backend))
        run, run_id = _Run(prepared, cluster), prepared.header.run_id
        with self._lock:
            self._runs[run_id] = run
            self._waiting.add(run_id)
        return {"run_id": run_id}

    def start_unanswered(self, params: object) -> None:
        """Start the run of an ``eval.run`` notification; its events report the result."""

        def work() -> None:
            try:
                self.answered({"result": self.table["eval.run"](params)()})
            except RpcError as error:
                log.warning("a run that nobody waits for cannot start: %s", error)

        threading.Thread(target=work, daemon=True).start()

    def _execute(self, run: _Run) -> None:
        def tell(event: RunEvent) -> None:
            if event.kind == "ended":
                run.status = event.status or "error"
                run.error = event.message or ""
                run.results_file = event.results_file or ""
            self._on_event(event.document())

        prepared, run.prepared = run.prepared, None
        assert prepared is not None
        try:
            # The last event says that another run resumed the same one.
            with run.cluster.opened_by_a_run(), contextlib.suppress(AlreadyResumedError):
                prepared.run(tell, run.cancellation)
        finally:
            run.has_closed = True
            self._forget()

    def _forget(self) -> None:
        """Drop all but the last finished runs, because a long session may have many."""
        with self._lock:
            ended = [name for name, run in self._runs.items() if run.status != "running"]
            for name in ended[:-_MOST_ENDED]:
                del self._runs[name]

    def _status(self, params: Params) -> Answer:
        run_id = text_param(params, "run_id")
        run = self._known(run_id)
        answer: Answer = {"id": run_id, "status": run.status}
        if run.error:
            answer["error"] = run.error
        if run.results_file:
            answer["results_file"] = run.results_file
        return answer

    def _cancel(self, params: Params) -> Answer:
        run = self._known(text_param(params, "run_id"))
        running = run.status == "running"
        if running:
            run.cancellation.request(by_person=True)
        return {"canceled": running}

    def _grade(self, params: Params) -> Answer:
        """Grade a recorded run again; ``task`` is a pattern, ``grader`` a name, ``graders`` are more of them.

        Judges run again only with a ``judge_executor``. ``overlays`` are open files by path.
        """
        request = _regrade_request(params, _GRADE_PARAMS)
        return self._regraded(
            request, lambda regrading, cancellation: answer(regrading, graded(regrading, cancellation))
        )

    def _strength(self, params: Params) -> Answer:
        """Measure the graders of a suite with a recorded run, without judges and programs."""
        from waza_engine.commands import strength

        request = _regrade_request(params, _STRENGTH_PARAMS)
        return self._regraded(
            request,
            lambda regrading, cancellation: strength.answer(
                regrading, strength.measure_graders(regrading, cancellation)
            ),
        )

    def _regraded(
        self, request: RegradeRequest, work: Callable[[Regrading, RunCancellation], Answer]
    ) -> Answer:
        cancellation = RunCancellation()
        with self._lock:
            self._regradings.add(cancellation)
        try:
            return work(loaded(lambda: prepare_regrading(request, self._suites)), cancellation)
        finally:
            with self._lock:
                self._regradings.discard(cancellation)

    def _open_live(self, params: Params) -> Answer:
        record = _record(params)
        return loaded(lambda: self._live.open(params, record, eval_path(params, "suite")))

    def _update_live(self, params: Any) -> Callable[[], Answer]:
        """Apply open files before reading the next message, so the newest win; judge them in a thread."""
        found: list[Callable[[], Answer]] = []

        def take(given: Params) -> Answer:
            found.append(self._live.update(given))
            return {}

        _guarded(take)(params)()
        return _guarded(lambda _: found[0]())(params)

    def _known(self, run_id: str) -> _Run:
        with self._lock:
            run = self._runs.get(run_id)
        if run is None:
            raise refused(f"There is no run {run_id}.", INVALID_PARAMS)
        return run


def _regrade_request(params: Params, known: Sequence[str]) -> RegradeRequest:
    """Return the request to grade a record again, of which only some parameters may be ``known``."""
    request = RegradeRequest(
        record=_record(params),
        suite=None if params.get("suite") is None else eval_path(params, "suite"),
        tasks=single_param(params, "task"),
        graders=(*single_param(params, "grader"), *list_param(params, "graders")),
        workspace=None if params.get("workspace") is None else path_param(params, "workspace"),
        judge_executor=optional_text(params, "judge_executor"),
        judge_model=optional_text(params, "judge_model"),
        overlays=texts_param(params, "overlays"),
    )
    only_known(params, known)
    return request


def _record(params: Params) -> Path:
    """Return the named result file, or that of the newest run of the named suite."""
    return loaded(lambda: record_of(path_param(params, "record"), advice=RUN_FIRST))


def _loading(method: Callable[[Params], Answer]) -> Callable[[Params], Answer]:
    """Return the method with the errors of a record or a suite as those of the request."""
    return lambda params: loaded(lambda: method(params))


def _guarded(method: Callable[[Params], Answer]) -> Callable[[Any], Callable[[], Answer]]:
    """Return the handler that runs a method in a thread and turns every failure into a clear error."""

    def handler(params: Any) -> Callable[[], Answer]:
        def work() -> Answer:
            given: object = {} if params is None else params
            if not isinstance(given, Mapping):
                raise refused("`params` must be an object.", INVALID_PARAMS)
            named = cast("Params", given)
            if why := why_unusable(named, contents=("overlays",)):
                raise refused(why, INVALID_PARAMS)
            try:
                return method(named)
            except RpcError:
                raise
            except Exception as error:
                raise refused(f"{type(error).__name__}: {error}", INTERNAL_ERROR) from error

        return work

    return handler


def make_suite(params: Params) -> Answer:
    """Draft a suite from a ``SKILL.md`` and write it to ``directory``, or below ``evals`` of ``base``.

    With ``eval_text`` true the eval file is returned and not written: its editor has it open. With ``draft``
    true nothing is written: ``drafts`` are the contents of the other files by their paths.
    """
    only_known(params, ("skill", "directory", "base", "eval_text", "draft"))
    skill = path_param(params, "skill")
    directory, base = (
        None if params.get(key) is None else path_param(params, key) for key in ("directory", "base")
    )
    made = _or_refused(lambda: new_suite(skill, directory, base=base))
    files: Mapping[str, str] = made.files
    text: Answer = {}
    if params.get("eval_text") is True:
        files = {name: content for name, content in files.items() if name != EVAL_NAME}
        text = {"eval_text": made.files[EVAL_NAME]}
    paths = [made.directory / name for name in files]
    if params.get("draft") is True:
        _or_refused(lambda: check_free(paths))
        text["drafts"] = {str(path): content for path, content in zip(paths, files.values(), strict=True)}
    else:
        _or_refused(lambda: write_files(made.directory, files, force=False))
    return {
        "eval": str(made.directory / EVAL_NAME),
        "files": [str(path) for path in paths],
        "warnings": list(made.warnings),
        **text,
    }


def convert_suite(params: Params) -> Answer:
    """Convert the eval file at ``path`` ``to`` another format, into new files of ``directory``.

    With ``draft`` true nothing is written. ``losses`` are as ``waza-engine convert --json`` prints them.
    """
    from waza_engine.convert.conversion import ConversionError
    from waza_engine.convert.convert import STAMP, convert, write_conversion

    only_known(params, ("path", "to", "directory", "draft"))
    written, directory = text_param(params, "to"), path_param(params, "directory")
    to = next((target for target in get_args(Target) if target == written), None)
    if to is None:
        raise refused(f"`to` must be one of {', '.join(get_args(Target))}.", INVALID_PARAMS)
    try:
        conversion = convert(path_param(params, "path"), to, directory)
    except ConversionError as error:
        raise refused(str(error), INVALID_PARAMS) from None
    paths = [directory / name for name in (*conversion.files, STAMP, *conversion.copies)]
    if params.get("draft") is True:
        _or_refused(lambda: check_free(paths))
    else:
        _or_refused(lambda: write_conversion(conversion, force=False))
    return {
        "files": [str(path) for path in paths],
        "losses": [loss.document() for loss in conversion.losses],
    }


def make_task(params: Params) -> Answer:
    """Write a task file where the patterns of the suite at ``path`` pick it up."""
    only_known(params, ("path", "task_id", "prompt"))
    suite, identifier = path_param(params, "path"), text_param(params, "task_id")
    prompt = remark_param(params, "prompt")
    made = _or_refused(lambda: new_task(identifier, suite, prompt=prompt))
    files = {made.path.name: made.text}
    return {
        "files": [
            str(path) for path in _or_refused(lambda: write_files(made.path.parent, files, force=False))
        ]
    }


def check_task(params: Params) -> Answer:
    """Return the ``problem`` of an id for a new task of the suite at ``path``: None when there is none.

    ``listed`` as for ``why_no_task``.
    """
    only_known(params, ("path", "task_id", "listed"))
    identifier, suite = text_param(params, "task_id"), path_param(params, "path")
    return {"problem": why_no_task(identifier, suite, listed=params.get("listed") is True)}


def save_task(params: Params) -> Answer:
    """Write a task that is made of a recorded one: ``task`` of the suite at ``path``, under another id.

    ``record`` is the result file, without it the newest that has the task; ``trial`` counts from 1.
    """
    from waza_engine.scaffold.recorded_task import save_recorded

    only_known(params, ("path", "task", "task_id", "record", "trial"))
    suite, task = path_param(params, "path"), text_param(params, "task")
    identifier, trial = text_param(params, "task_id"), count_param(params, "trial")
    record = None if params.get("record") is None else path_param(params, "record")
    files = _or_refused(lambda: save_recorded(suite, task, identifier, record, trial))
    return {"files": [str(path) for path in files]}


def make_grader(params: Params) -> Answer:
    """Add a grader of a ``type`` to the eval or task file at ``path``."""
    only_known(params, ("path", "type"))
    file, type_name = path_param(params, "path"), text_param(params, "type")
    path, content, name = _or_refused(lambda: with_grader(file, type_name))
    _or_refused(lambda: write_content(path, content))
    return {"files": [str(path)], "name": name}


def _or_refused(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except ScaffoldError as error:
        raise refused(error.what, INVALID_PARAMS) from None
