"""An engine that does what the path of the suite says, to drive the client side through its rare states.

Started as ``python fake_engine.py``; speaks one JSON object a line, as ``waza_engine serve`` does.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

_lock = threading.Lock()


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        params = request["params"]
        if request["method"] == "eval.run":
            _run(request["id"], params, Path(params["path"]).parent)
        elif request["method"] == "run.cancel":
            _cancel(request["id"], params["run_id"])


def _run(request: str, params: dict[str, Any], folder: Path) -> None:
    behaviour = folder.name
    if behaviour == "refuses":
        _write({"id": request, "error": {"code": -32001, "message": "There is no such suite."}})
        return
    run = f"run-{behaviour}"
    if behaviour == "events_first":
        _finish(run)
    elif behaviour == "dies_when_told":
        (folder / "asked").touch()
        while not (folder / "told").exists():
            time.sleep(0.01)
    _write({"id": request, "result": {"run_id": run}})
    _event(run, "run_started", completed=0, total=2)
    if behaviour == "completes":
        _event(
            run,
            "graded",
            task="one",
            grader=(params.get("graders") or ["any"])[0],
            score=0.5,
            completed=1,
            total=2,
        )
        _finish(run)
    elif behaviour in ("dies", "dies_when_told"):
        sys.stderr.write("MemoryError: out of memory\n")
        sys.stderr.flush()
        os._exit(3)
    elif behaviour == "deaf":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        _event(run, "output", message=str(child.pid))


def _cancel(request: str, run: str) -> None:
    _write({"id": request, "result": {"canceled": True}})
    if run != "run-deaf":
        _event(run, "ended", status="canceled")


def _finish(run: str) -> None:
    _event(run, "ended", status="completed", results_file="results.json")


def _event(run: str, kind: str, **more: Any) -> None:
    _write({"method": "run.event", "params": {"run_id": run, "kind": kind, **more}})


def _write(message: dict[str, Any]) -> None:
    with _lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
