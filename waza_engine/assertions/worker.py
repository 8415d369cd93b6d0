"""The process that evaluates assertions: a script for ``python -I -S``, never imported by the product.

It speaks JSON lines. First line in: its settings (``workers.py``).
Then a request ``{"contexts", "assertions", "replay"}`` is answered by a line ``{"ready"}`` and one line an
assertion of each context, ``{"passed", "error"}``; the assertions in ``replay`` are evaluated first,
unanswered, for the names they bind. In one context every answer is told at once, in several within
``told_within_seconds`` or when the evaluation ends that then goes on.

Evaluation is upstream's: ``eval(text, {"__builtins__": {}}, context)``, one context for all assertions of a
grader. Every exception is a failure. Architecture invariant: nothing that an assertion does reaches the wire;
empty built-ins are no sandbox, so the process is one of its own, limited in memory, and ends itself when an
assertion outlives its deadline.
"""

from __future__ import annotations

import ast
import faulthandler
import functools
import json
import os
import re
import sys
import time
import types
import warnings
from typing import Any, BinaryIO

ERROR_CHARACTERS = 500


def main() -> None:
    """Serve requests until the input ends."""
    requests, replies = _private_streams()
    warnings.simplefilter("ignore")
    settings = json.loads(requests.readline())
    limited = _limit_memory(settings["memory_bytes"])
    evaluate = _Evaluation(settings, limited)
    while line := requests.readline():
        try:
            request = json.loads(line)
            contexts = [{**_functions(), **context} for context in request["contexts"]]
            assertions, replay = request["assertions"], request["replay"]
        except (MemoryError, RecursionError):
            # The parent reads the end of output as "this cannot be evaluated here".
            sys.exit(3)
        # A timer in C ends the process even while a regular expression holds the interpreter lock. The parent
        # is faster; this is for a worker whose parent was killed.
        deadline = settings["deadline_seconds"] * (len(replay) + len(assertions)) + 2
        faulthandler.dump_traceback_later(deadline, exit=True)
        for text in replay:
            evaluate(text, contexts[0])
        replies.write(b'{"ready": true}\n')
        replies.flush()
        told = time.monotonic()
        for context in contexts:
            for text in assertions:
                passed, error = evaluate(text, context)
                replies.write(json.dumps({"passed": passed, "error": error}).encode() + b"\n")
                if len(contexts) == 1:
                    replies.flush()
                elif time.monotonic() - told > settings["told_within_seconds"]:
                    replies.flush()
                    told = time.monotonic()
                    faulthandler.dump_traceback_later(deadline, exit=True)
        replies.flush()
        faulthandler.cancel_dump_traceback_later()


class _Evaluation:
    def __init__(self, settings: dict[str, Any], limited: bool) -> None:
        self._allowed = frozenset(settings["allowed"])
        self._refused = frozenset(settings["refused"])
        self._refused_prefixes = tuple(settings["refused_prefixes"])
        self._memory = f" of {settings['memory_bytes'] // 1_000_000} MB" if limited else ""
        # Of many trials each is asked the same.
        self._code = functools.lru_cache(maxsize=64)(self._compiled)

    def __call__(self, text: str, context: dict[str, Any]) -> tuple[bool, str | None]:
        try:
            return self._evaluate(text, context), None
        except MemoryError:
            return False, f"it needs more than the allowed memory{self._memory}"
        except RecursionError:
            return False, "it calls itself without end or is nested too deeply"
        except SyntaxError as error:
            return False, _bounded(f"not a Python expression: {error.msg}{_column(error)}")
        except NameError as error:
            return False, _bounded(_name_error(error, context))
        except BaseException as error:  # noqa: BLE001 - every exception is a failure, SystemExit and StopIteration included
            return False, _bounded(_described(error))

    def _evaluate(self, text: str, context: dict[str, Any]) -> bool:
        return bool(eval(self._code(text), {"__builtins__": {}}, context))

    def _compiled(self, text: str) -> types.CodeType:
        tree = ast.parse(text.lstrip(" \t"), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and self._is_refused(node.attr):
                raise _RefusedError(f"the attribute `{node.attr}` is not allowed in an assertion")
        return compile(tree, "<assertion>", "eval")

    def _is_refused(self, name: str) -> bool:
        if name.startswith("__"):
            return name not in self._allowed
        return name in self._refused or name.startswith(self._refused_prefixes)


class _RefusedError(Exception):
    pass


def _described(error: BaseException) -> str:
    if isinstance(error, _RefusedError):
        return str(error)
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - an exception may fail to describe itself
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _name_error(error: NameError, context: dict[str, Any]) -> str:
    name = getattr(error, "name", None)
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


def _functions() -> dict[str, Any]:
    # Only the public names of `re`: its internals lead to the rest of the interpreter.
    public = types.ModuleType("re")
    public.__dict__.update(_PUBLIC_OF_RE)
    functions: dict[str, Any] = {
        "len": len,
        "any": any,
        "all": all,
        "re": public,
        "True": True,
        "False": False,
    }
    functions.update({"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict})
    return functions


_PUBLIC_OF_RE = {name: getattr(re, name) for name in (*vars(re)["__all__"], "DEBUG")}


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the two pipes for the protocol; whoever else uses descriptors 0 to 2 meets the null device."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    return requests, replies


def _limit_memory(limit: int) -> bool:
    try:
        import resource
    except ImportError:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ValueError, OSError):
        return False
    return sys.platform != "darwin"


if __name__ == "__main__":
    main()
