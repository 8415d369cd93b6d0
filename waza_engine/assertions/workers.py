"""The languages of assertions, and the processes that evaluate them: started once, used for many graders.

A request to a worker is ``{"contexts", "assertions", "replay", "explain"?}``; each assertion is answered by a
line ``{"passed", "error", "timed_out"?, "unusable"?}``, in one context after the other, with ``values`` and
``decided`` when it is to be explained. Where a language takes several contexts, one may be the number of a
trial that the worker has cached: ``keep`` sends it some by number, and ``forget`` are those that are no
longer needed.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waza_engine.processes.workers import WorkerProgram

MEMORY_BYTES = 1_000_000_000
TOLD_WITHIN_SECONDS = 0.05
"""The most delay of a worker's answers on one of several contexts, while it goes on."""
_HERE = Path(__file__).parent
_LIMITED = _HERE.parent / "processes" / "limited.py"
_ISOLATED_PYTHON = (sys.executable, "-I", "-S", "-B")
_NODE_STARTS_WITHIN_SECONDS = 20.0


class MissingInterpreterError(Exception):
    """The interpreter of a language is not installed; the message is for the author of the suite."""


@dataclass(frozen=True, slots=True)
class AssertionOutcome:
    """The result of an assertion. ``error`` says why it is unknown: it raised, hung or crashed.

    ``observed`` are short parts of one that was not true, as they are written, with their values. One that is
    ``unusable`` cannot be evaluated whatever the answer is: it is not an expression, or uses an unknown name.
    """

    passed: bool
    error: str | None = None
    timed_out: bool = False
    observed: tuple[tuple[str, str], ...] = ()
    unusable: bool = False

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> AssertionOutcome:
        """Return the outcome from a worker's answer."""
        observed = tuple((str(part), str(value)) for part, value in answer.get("observed", ()))
        late, unusable = (answer.get(key) is True for key in ("timed_out", "unusable"))
        return cls(answer["passed"], answer["error"], late, observed, unusable)


@dataclass(frozen=True, slots=True)
class ExplainedAssertion:
    """The result of an assertion, and its parts: each as it is written, with its value in a few characters.

    ``decided`` is the part of a chain of ``and`` or ``or`` that was evaluated last, "" for others. A language
    that cannot be taken apart has no values.
    """

    outcome: AssertionOutcome
    values: tuple[tuple[str, str], ...] = ()
    decided: str = ""

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> ExplainedAssertion:
        """Return the explanation from a worker's answer."""
        values = tuple((str(text), str(value)) for text, value in answer.get("values", ()))
        return cls(AssertionOutcome.of(answer), values, str(answer.get("decided") or ""))


@dataclass(frozen=True, slots=True)
class Language:
    """How assertions of a language are evaluated.

    ``binds`` returns whether an assertion may bind a name that later ones see, so that it is evaluated again
    when its worker was lost; ``crash`` is the message for a worker that ends. ``together`` says whether a
    request may have several contexts.
    """

    program: WorkerProgram
    binds: Callable[[str], bool]
    crash: str
    together: bool = False


def _python(memory_bytes: int) -> Sequence[str]:
    del memory_bytes  # the worker limits itself
    return (*_ISOLATED_PYTHON, str(_HERE / "worker.py"))


def _node(memory_bytes: int) -> Sequence[str]:
    found = shutil.which("node")
    node, permissions = _installed_node(found) if found is not None else ("", "")
    if not node:
        raise MissingInterpreterError(
            "assertions in JavaScript need Node.js; install it, or write them in Python"
        )
    heap = max(64, memory_bytes // 2_000_000)
    script = str((_HERE / "javascript_worker.js").resolve())
    # Assertions may create code from strings; the worker itself must not.
    flags = [f"--max-old-space-size={heap}", "--disallow-code-generation-from-strings"]
    if permissions:
        # Node.js denies files, processes, threads and add-ons to code that escapes from a context.
        flags += [permissions, f"--allow-fs-read={script}"]
    limited = () if sys.platform == "win32" else (*_ISOLATED_PYTHON, str(_LIMITED))
    return (*limited, node, *flags, script)


@functools.cache
def _installed_node(found: str) -> tuple[str, str]:
    """Return the path of Node.js, "" when it does not start, and its flag for permissions, "" if it has none.

    The one on the search path may be a script of a version manager, which needs the environment of the user.
    """
    known = (
        "['--permission', '--experimental-permission'].find(f => process.allowedNodeEnvironmentFlags.has(f))"
    )
    question = f"JSON.stringify([process.execPath, {known} ?? ''])"
    try:
        answer = subprocess.run(
            (found, "-p", question),
            capture_output=True,
            timeout=_NODE_STARTS_WITHIN_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "NODE_OPTIONS": ""},
        )
        path, permissions = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return "", ""
    return path, permissions


PYTHON = Language(
    WorkerProgram(
        name="python",
        command=_python,
        settings={"told_within_seconds": TOLD_WITHIN_SECONDS},
    ),
    binds=lambda text: ":=" in text,
    crash="it crashed the interpreter",
    together=True,
)
JAVASCRIPT = Language(
    WorkerProgram(
        name="javascript", command=_node, settings={}, grace_seconds=1.0, watched=True, limits_itself=False
    ),
    binds=lambda text: False,
    crash="it crashed Node.js or needs too much memory",
)
