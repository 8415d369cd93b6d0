"""Runs one Python file again and again in one process, each time as a program of its own.

Starting an interpreter takes longer than most graders do. The file gets new standard streams, a new
``__main__`` and the variables and directory that the process began with. The modules that it imports stay
loaded. ``warm_grader.py`` starts it; ``waza_engine/processes/workers.py`` describes its input and output.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def main() -> None:
    """Answer requests until there are none: ``{"stdin", "workspace"}`` with how the file ended."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    settings = json.loads(requests.readline())
    file, limit = settings["file"], settings["limit_bytes"]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path(file).parent)
    # Programs that the file starts inherit these, as they do from a process of its own.
    streams = [tempfile.TemporaryFile() for _ in _STREAMS]  # noqa: SIM115 - open until the end
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
    variables, directory, path = dict(os.environ), Path.cwd(), [*sys.path]
    for line in requests:
        replies.write(b'{"ready": true}\n')
        request = json.loads(line)
        os.environ.clear()
        os.environ.update({**variables, "WAZA_WORKSPACE_DIR": request["workspace"]})
        os.chdir(directory)
        sys.argv[:], sys.path[:] = [file], path
        for number in range(len(_STREAMS)):
            os.ftruncate(number, 0)
            os.lseek(number, 0, os.SEEK_SET)
        os.pwrite(0, request["stdin"].encode("utf-8", "replace"), 0)
        answer: dict[str, Any] = {"exit_code": _run(file)}
        for number, (name, _) in enumerate(_STREAMS[1:], 1):
            answer[name] = os.pread(number, limit, 0).decode("utf-8", "replace")
        answer["cut"] = os.fstat(1).st_size > limit
        replies.write(json.dumps(answer).encode() + b"\n")


def _run(file: str) -> int:
    """Run the file and return its exit code, as the interpreter would end with it."""
    for number, (name, mode) in enumerate(_STREAMS):
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace", closefd=False))
    code = 0
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as end:
        code = _exit_code(end.code)
    except BaseException:  # noqa: BLE001 - the file's own, which ends its program
        traceback.print_exc()
        code = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code


def _exit_code(code: object) -> int:
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


if __name__ == "__main__":
    main()
