"""Kills of paid runs at random moments: each answer that reached the engine is in the journal or the record.

``python -m tests.engine.faults.kills --times 1000`` starts a run for each kill, with a scripted model or a
program as the agent, and ends it by ``SIGKILL``, or as Ctrl-C does. A model knows that an answer has arrived
when somebody goes on from it: the same run asks again. Of the last answer nobody knows.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Literal

from tests.engine.executors.agents import write_agent
from tests.engine.suites import openai_config, present, task, write_suite
from tests.scripted_model import Answer, Call, ModelRequest, Reply, ScriptedModel, Tokens
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.reading.formats import read_document
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.writing.store import recover_journals
from waza_engine.scoring.cost import tokens_of

Kind = Literal["model", "program"]
TASKS, TOKENS = 3, Tokens(90, 10)
EACH = TOKENS.input + TOKENS.output
_WAIT_SECONDS = 60.0
JUDGE = "- {type: prompt, name: judge, config: {prompt: Judge it.}}\n"
AGENT = """\
    number = len(open("LOG").readlines()) + 1
    print("asked", file=open("LOG", "a"), flush=True)
    say(type="result", content=f"answer-{number}.", tokens=100)
    time.sleep(0.02)
"""
_LOADED_BEFORE = (
    "genai_prices.data_snapshot",
    "openai.resources.chat.completions",
    "waza_engine.executors.command",
    "waza_engine.executors.openai",
    "waza_engine.graders.prompt",
    "waza_engine.runs.passes.suite_pass",
    "waza_engine.runs.preparing",
)
ADAPTER = {"x-waza": {"usage": {"output_tokens": "$.tokens"}}}


@dataclass
class Witness:
    """What those who answer know: the marks of all answers that were sent, in order."""

    sent: list[str] = field(default_factory=list[str])
    changed: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, request: ModelRequest) -> Reply:
        """Answer as an agent that looks once, or as a judge that decides."""
        with self.changed:
            mark = f"answer-{len(self.sent) + 1}."
            self.sent.append(mark)
            self.changed.notify_all()
        if "set_waza_grade_pass" in request.tool_names:
            decision = Call("set_waza_grade_pass", {"reason": mark})
            return Answer(mark, () if request.tool_results else (decision,), TOKENS)
        looks = not request.tool_results and "look" in request.prompt
        return Answer(mark, (Call("glob", {"pattern": "*"}),) if looks else (), TOKENS)

    def wait_for(self, count: int, ended: Callable[[], bool]) -> None:
        """Return when so many answers were sent, or the run has ended by itself."""
        deadline = time.monotonic() + _WAIT_SECONDS
        with self.changed:
            while len(self.sent) < count and not ended() and time.monotonic() < deadline:
                self.changed.wait(0.05)


@dataclass(frozen=True, slots=True)
class Loss:
    """A kill after which something was missing, or counted twice."""

    seed: int
    what: str


def kill_once(seed: int, runner: Runner, folder: Path) -> Loss | None:
    """Start a run, kill it at a moment that the seed decides, and say what was lost."""
    chance = random.Random(seed)
    kind: Kind = chance.choice(("model", "model", "program"))
    number = signal.SIGKILL if chance.random() < 0.7 else signal.SIGTERM
    with _suite(kind, folder) as (suite, witness):
        process = runner.start(suite)
        most = TASKS if kind == "program" else 5 * TASKS
        witness.wait_for(chance.randint(1, most), lambda: not runner.is_running(process))
        time.sleep(chance.uniform(0, 0.03))
        runner.kill(process, number)
        sent = len(witness.sent)
        arrived = witness.sent[: max(0, sent - 1)]
    found, tokens = _recorded(suite)
    missing = [mark for mark in arrived if mark not in found]
    # What a judge says after its decision is told nowhere, but it is paid for.
    if kind == "model":
        missing = [mark for mark in missing if f'"{mark}"' in found]
    if missing:
        return Loss(seed, f"{kind}: {missing} of {sent} answers are gone")
    if not EACH * len(arrived) <= tokens <= EACH * sent:
        return Loss(seed, f"{kind}: {tokens} tokens for {len(arrived)} to {sent} answers of {EACH}")
    return None


@contextmanager
def _suite(kind: Kind, folder: Path) -> Generator[tuple[Path, Witness]]:
    witness = Witness()
    if kind == "program":
        log = folder / "log"
        log.write_text("")
        write_agent(folder, AGENT.replace("LOG", log.as_posix()), **ADAPTER)
        config = (
            "config: {trials_per_task: 1, timeout_seconds: 60, executor: command, adapter: adapter.json}\n"
        )
        tasks = {f"t{number}": task(f"t{number}") for number in range(TASKS)}
        with _watching(log, witness):
            yield write_suite(folder, tasks, config=config), witness
        return
    model = ScriptedModel(witness.answer)
    config = openai_config(model.base_url, "workspace_tools: [list]", "gpt-4o", seconds=60)
    tasks = {
        f"t{number}": f"id: t{number}\ninputs: {{prompt: look, follow_up_prompts: [more]}}\n"
        for number in range(TASKS)
    }
    try:
        yield write_suite(folder, tasks, graders=JUDGE, config=config), witness
    finally:
        model.close()


@contextmanager
def _watching(log: Path, witness: Witness) -> Generator[None]:
    """Let a witness know of the programs that have been started, by the lines that they leave."""
    over = threading.Event()

    def look() -> None:
        with witness.changed:
            count = len(log.read_text().splitlines())
            witness.sent = [f"answer-{number}." for number in range(1, count + 1)]
            witness.changed.notify_all()

    def watch() -> None:
        while not over.wait(0.005):
            look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        look()


def _recorded(suite: Path) -> tuple[str, int]:
    """Return the text of the record, made of the journal if need be, and the tokens of all its trials."""
    results = suite.parent / ".waza" / "results"
    journals = [path.read_text("utf-8") for path in results.glob("*.partial.jsonl")]
    recover_journals(suite.parent)
    paths = list(results.glob("*.json"))
    if not paths:
        # Nothing was asked, or nothing has arrived.
        return "".join(journals), 0
    (path,) = paths
    outcome = read_recording(path)
    used = [
        usage
        for found in outcome.tasks
        for trial in found.trials
        for usage in (trial.outcome.usage, trial.outcome.judge_usage, trial.outcome.other_usage)
    ]
    tokens = sum(map(tokens_of, used))
    spending = run_of(read_document(path) or {}).spending
    # The sum of a run holds all its trials.
    return path.read_text("utf-8"), min(tokens, 0 if spending is None else spending.tokens)


class Runner:
    """Starts runs as children of a process that has loaded the engine already: a run begins at once."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.engine.faults.kills", "--runner"]
        environment = {**os.environ, "OPENAI_API_KEY": "x"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def start(self, suite: Path) -> int:
        return int(self._ask(f"start {suite}"))

    def is_running(self, process: int) -> bool:
        return self._ask(f"look {process}") == "running"

    def kill(self, process: int, number: int) -> None:
        """Send a signal and return when the process has ended."""
        self._ask(f"kill {process} {number}")

    def close(self) -> None:
        present(self._process.stdin).close()
        self._process.wait(_WAIT_SECONDS)

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return present(self._process.stdout).readline().strip()


def _serve_runs() -> None:
    for name in _LOADED_BEFORE:
        importlib.import_module(name)
    ended: set[int] = set()

    def look(process: int, options: int) -> str:
        if process not in ended and os.waitpid(process, options)[0]:
            ended.add(process)
        return "ended" if process in ended else "running"

    for line in sys.stdin:
        order, *words = line.split()
        if order == "start":
            answer = str(os.fork() or _run_here(Path(words[0])))
        elif order == "look":
            answer = look(int(words[0]), os.WNOHANG)
        else:
            process = int(words[0])
            if look(process, os.WNOHANG) == "running":
                os.kill(process, int(words[1]))
            answer = look(process, 0)
        _say(answer)


def _run_here(suite: Path) -> int:
    """Carry out a run in this process, which ends with it; never returns."""
    from waza_engine.runs.limits.cancellation import RunCancellation
    from waza_engine.runs.preparing import prepare
    from waza_engine.runs.settings.table import RunSettings

    cancellation = RunCancellation()

    def cancel(number: int, frame: FrameType | None) -> None:
        del number, frame
        cancellation.request(by_person=True)

    signal.signal(signal.SIGTERM, cancel)
    with suppress(BaseException):
        prepare(RunSettings(suite)).run(lambda _: None, cancellation)
    os._exit(0)


def kill_often(times: int, seed: int = 0) -> list[Loss]:
    """Kill so many runs; return what was lost."""
    runner = Runner()
    losses: list[Loss] = []
    try:
        for number in range(seed, seed + times):
            with tempfile.TemporaryDirectory(prefix="kills-", ignore_cleanup_errors=True) as folder:
                loss = kill_once(number, runner, Path(folder))
            if loss is not None:
                losses.append(loss)
                _say(json.dumps({"seed": loss.seed, "lost": loss.what}))
    finally:
        runner.close()
    return losses


def main() -> int:
    """Kill runs as often as asked; the exit code says whether something was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runner", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.runner:
        _serve_runs()
        return 0
    losses = kill_often(options.times, options.seed)
    _say(f"{options.times} kills: {len(losses)} with a loss")
    return 1 if losses else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
