"""The process that searches patterns which RE2 rejects: a script for ``python -I -S``, never imported.

``workers.py`` describes what it speaks. First line in: ``{"memory_bytes", "deadline_seconds",
"re2_memory_bytes", "folders"}``, where ``folders`` have the libraries. A request ``{"pattern", "ignore_case",
"dialect", "text"}`` is answered by a line ``{"ready"}`` and one ``{"found"}`` or ``{"error"}``; what is found
is ``[start, end]`` in characters, or null.

Architecture invariant: one that compiles or searches too long ends itself, and so does one whose engine is
gone. Memory that runs out is an answer.
"""

from __future__ import annotations

import faulthandler
import functools
import gc
import importlib
import json
import os
import re
import sys
import warnings
from typing import Any, BinaryIO

KEPT_PATTERNS = 32
GRACE_SECONDS = 1.0


def main() -> None:
    """Serve requests until the input ends."""
    requests, replies = os.fdopen(0, "rb"), os.fdopen(1, "wb")
    warnings.simplefilter("ignore")
    settings = json.loads(requests.readline())
    sys.path += settings["folders"]
    # Before the limit, because an import that runs out of memory gives no useful error.
    search = _Search(settings["re2_memory_bytes"])
    _limit_memory(settings["memory_bytes"])
    while line := requests.readline():
        request = json.loads(line)
        # A timer in C ends the process even while a library holds the interpreter lock. The engine is faster;
        # this is for a worker whose engine was killed.
        faulthandler.dump_traceback_later(settings["deadline_seconds"] + GRACE_SECONDS, exit=True)
        _write(replies, {"ready": True})
        _write(replies, search.answer(**request))
        faulthandler.cancel_dump_traceback_later()


class _Search:
    def __init__(self, re2_memory_bytes: int) -> None:
        try:
            self._re2: Any = importlib.import_module("re2")
            self._errors: tuple[type[Exception], ...] = (self._re2.error,)
        except ImportError:
            self._errors = ()  # no pattern is one of RE2 then
        self._regex: Any = importlib.import_module("regex")
        self._re2_memory = re2_memory_bytes
        self._compiled = functools.lru_cache(maxsize=KEPT_PATTERNS)(self._compile)

    def answer(self, *, pattern: str, ignore_case: bool, dialect: str, text: str) -> dict[str, Any]:
        try:
            try:
                return {"found": self._found(pattern, ignore_case, dialect, text)}
            except MemoryError:
                # Other patterns may hold it.
                self._compiled.cache_clear()
                gc.collect()
                return {"found": self._found(pattern, ignore_case, dialect, text)}
        except MemoryError:
            return {"error": "memory"}
        except (*self._errors, self._regex.error, re.error, RecursionError, OverflowError, ValueError):
            return {"error": "refused"}

    def _found(self, pattern: str, ignore_case: bool, dialect: str, text: str) -> list[int] | None:
        match = self._compiled(pattern, ignore_case, dialect).search(text)
        return None if match is None else list(match.span())

    def _compile(self, pattern: str, ignore_case: bool, dialect: str) -> Any:
        if dialect == "python":
            try:
                # Its own cache would hold hundreds.
                flags = self._regex.IGNORECASE if ignore_case else 0
                return self._regex.compile(pattern, flags, cache_pattern=False)
            except self._regex.error:
                # It reads more into braces than Python does.
                return re.compile(pattern, re.IGNORECASE if ignore_case else 0)
        options = self._re2.Options()
        options.log_errors = False
        options.max_mem = self._re2_memory
        options.case_sensitive = not ignore_case
        options.never_capture = True
        return self._re2.compile(pattern, options)


def _write(replies: BinaryIO, answer: dict[str, Any]) -> None:
    replies.write(json.dumps(answer).encode() + b"\n")
    replies.flush()


def _limit_memory(limit: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        # The engine looks at the memory where it cannot be limited.
        return


if __name__ == "__main__":
    main()
