"""The process that evaluates assertions: a script for ``python -I -S -B``, never imported by the product.

It speaks JSON lines. First line in: its settings (``evaluator.py``). Then a request ``{"context",
"assertions", "replay", "explain"?}`` is answered by a line ``{"ready"}`` and one line an assertion,
``{"passed", "error", "observed"?, "unusable"?}``, with ``values`` and ``decided`` when it is to be explained;
``observed`` are the values of short parts of a false one, ``unusable`` one that no answer could make true: it
is not an expression, or uses an unknown name. The assertions in ``replay`` are evaluated first, unanswered,
for the names they bind.

Verdicts are those of ``eval(text, {"__builtins__": {}}, context)``, which upstream uses: one context for all
assertions of a grader, every exception is a failure. Here ``interpreter.py`` evaluates: nothing of a suite is
compiled, and only what is in its tables exists. Architecture invariant: nothing that an assertion does
reaches the wire, and a hole in the tables meets no secret: the process is isolated, has an empty environment,
can write no file and start no process, and its memory and processor time are limited.
"""

from __future__ import annotations

import ast
import faulthandler
import functools
import json
import os
import signal
import sys
import time
import warnings
from typing import Any, BinaryIO

# Isolated, a script does not find the package that it belongs to.
sys.path.append(__file__.rsplit(os.sep, 3)[0])
from waza_engine.assertions.assertion_syntax import RefusedSyntaxError, check_expression, parse_expression
from waza_engine.assertions.interpreter import Expression
from waza_engine.assertions.names import RefusedError, is_refused_attribute
from waza_engine.assertions.operations import MemoryLimit, load_encodings, names_for_assertions
from waza_engine.assertions.parts import Parts, is_repeatable

sys.path.pop()

ERROR_CHARACTERS = 500
OBSERVED_WITHIN_SECONDS = 0.02
RECURSION_LIMIT = 4_000
"""Python's own calls within each other; an expression takes about three for each level of nesting."""


def main() -> None:
    """Serve requests until the input ends."""
    requests, replies = _private_streams()
    warnings.simplefilter("ignore")
    settings = json.loads(requests.readline())
    load_encodings()
    sys.setrecursionlimit(RECURSION_LIMIT)
    limited = _limit(settings["memory_bytes"])
    evaluate = Evaluation(settings["memory_bytes"], limited)
    while line := requests.readline():
        try:
            request = json.loads(line)
            assertions, replay = request["assertions"], request["replay"]
            observing = "explain" not in request and all(map(evaluate.is_repeatable, (*replay, *assertions)))
            context = {**names_for_assertions(), **request["context"]}
        except (MemoryError, RecursionError):
            # The parent reads the end of output as "this cannot be evaluated here".
            sys.exit(3)
        _end_after(settings["deadline_seconds"] * (len(replay) + len(assertions)) + 2)
        for text in replay:
            evaluate(text, context)
        replies.write(b'{"ready": true}\n')
        replies.flush()
        for text in assertions:
            parts = Parts() if request.get("explain") else None
            begun = time.process_time()
            passed, error = evaluate(text, context, parts)
            brief = time.process_time() - begun < OBSERVED_WITHIN_SECONDS
            answer = {"passed": passed, "error": error, **(parts.as_answer() if parts is not None else {})}
            answer |= {"unusable": True} if evaluate.unusable else {}
            if observing and brief and not passed and error is None:
                answer["observed"] = evaluate.observed(text, context)
            replies.write(json.dumps(answer).encode() + b"\n")
            replies.flush()
        _end_after(None)


class Evaluation:
    """Evaluates assertions, and reports why one could not be evaluated."""

    def __init__(self, memory_bytes: int, limited: bool) -> None:
        self._memory = f" of {memory_bytes // 1_000_000} MB" if limited else ""
        MemoryLimit.number_of_bytes = memory_bytes
        # Many trials have the same assertions.
        self._read = functools.lru_cache(maxsize=64)(_read)
        self._parts = functools.lru_cache(maxsize=64)(_parts_of)
        self.is_repeatable = functools.lru_cache(maxsize=64)(is_repeatable)
        self.unusable = False

    def __call__(
        self, text: str, context: dict[str, Any], parts: Parts | None = None
    ) -> tuple[bool, str | None]:
        """Return whether an assertion is true, and why that is unknown."""
        self.unusable = False
        try:
            return self._evaluate(text, context, parts), None
        except MemoryError:
            return False, f"it needs more than the allowed memory{self._memory}"
        except RecursionError:
            return False, "it calls itself without end or is nested too deeply"
        except RefusedSyntaxError as error:
            self.unusable = True
            return False, _bounded(error.msg)
        except SyntaxError as error:
            self.unusable = True
            return False, _bounded(f"not a Python expression: {error.msg}{_column(error)}")
        except NameError as error:
            self.unusable = True
            return False, _bounded(_name_error(error, context))
        except RefusedError as error:
            self.unusable = True
            return False, _bounded(str(error))
        except BaseException as error:  # noqa: BLE001 - every exception is a failure, SystemExit and StopIteration included
            return False, _bounded(_described(error))

    def observed(self, text: str, context: dict[str, Any]) -> list[tuple[str, str]]:
        """Return the values of short parts of a false assertion, which is evaluated again for it."""
        parts = self._parts(text)
        try:
            return parts.observed() if self(text, context, parts) == (False, None) else []
        except Exception:  # noqa: BLE001 - that it is false was found without it
            return []

    def _evaluate(self, text: str, context: dict[str, Any], parts: Parts | None) -> bool:
        expression = self._read(text)
        if parts is None:
            return bool(expression(context))
        try:
            watched = parts.watched(text)
        except (RecursionError, MemoryError):
            # An expression that is nested so deeply that it can only just be evaluated is not taken apart.
            return bool(expression(context))
        return bool(watched(context, parts.note))


def _read(text: str) -> Expression:
    """Return an assertion that can be evaluated."""
    tree = parse_expression(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_refused_attribute(node.attr):
            raise RefusedError(f"the attribute `{node.attr}` is not allowed in an assertion")
    return Expression(tree, check_expression(tree))


def _parts_of(text: str) -> Parts:
    del text  # each has its own
    return Parts()


def _described(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - an exception may fail to describe itself
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _name_error(error: NameError, context: dict[str, Any]) -> str:
    name = error.name
    if isinstance(name, str) and name in context:
        return (
            f"`{name}` is not visible inside a comprehension, a generator expression or a lambda;"
            f" bind it first, as in `for {name} in [{name}]`"
        )
    return f"the name `{name}` does not exist here" if name else _described(error)


def _column(error: SyntaxError) -> str:
    return f" (column {error.offset})" if error.offset else ""


def _bounded(text: str) -> str:
    return text if len(text) <= ERROR_CHARACTERS else text[:ERROR_CHARACTERS] + "…"


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the two pipes for the protocol; other users of descriptors 0 to 2 get the null device."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    return requests, replies


def _end_after(seconds: float | None) -> None:
    """End the process after some seconds, None for never, even while a pattern holds the interpreter lock.

    The parent is faster; this is for a worker whose parent was killed.
    """
    if sys.platform == "win32":
        if seconds is None:
            faulthandler.cancel_dump_traceback_later()
        else:
            faulthandler.dump_traceback_later(seconds, exit=True)
        return
    # A timer of the kernel needs no thread, which is a process for the limit of processes.
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = hard if seconds is None else int(time.process_time() + seconds) + 1
    if hard in (soft, resource.RLIM_INFINITY) or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _limit(memory_bytes: int) -> bool:
    """Restrict the process to what assertions need. Return whether its memory is limited."""
    if sys.platform == "win32":
        return False
    import resource

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        _set_limit(kind, 0)
    return _set_limit(resource.RLIMIT_AS, memory_bytes) and sys.platform != "darwin"


def _set_limit(kind: int, most: int) -> bool:
    import resource

    try:
        resource.setrlimit(kind, (most, most))
    except (ValueError, OSError):
        return False
    return True


if __name__ == "__main__":
    main()
