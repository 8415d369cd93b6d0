"""An interpreter whose engine answers one ``live.update`` late: after the answers of newer ones.

It runs the real engine and hands on what is said. The answer to the first update with ``HELD`` in a text is
kept back until ``live.explain`` is answered, and told just before that. A file ``NOTE`` says that it is held.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path

HELD = "held answer"
NOTE = "held"


def interpreter(folder: Path) -> Path:
    """Write a program that can be started in place of Python, and return its path."""
    path = folder / "late-python"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{folder}" "$@"\n', "utf-8")
    path.chmod(0o755)
    return path


def main() -> None:
    """Run the engine until its input ends."""
    engine = subprocess.Popen(
        [sys.executable, *sys.argv[2:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert engine.stdin is not None
    assert engine.stdout is not None
    held: set[object] = set()
    explained: set[object] = set()

    def ask() -> None:
        assert engine.stdin is not None
        for line in sys.stdin:
            message = json.loads(line)
            if message["method"] == "live.update" and HELD in line and not held:
                held.add(message["id"])
            if message["method"] == "live.explain":
                explained.add(message["id"])
            engine.stdin.write(line)
            engine.stdin.flush()
        engine.stdin.close()

    threading.Thread(target=ask, daemon=True).start()
    late: list[str] = []
    for line in engine.stdout:
        message = json.loads(line)
        identifier = message.get("id")
        if identifier in held:
            assert message["result"]["status"] == "judged", message
            late.append(line)
            Path(sys.argv[1], NOTE).touch()
            continue
        if identifier in explained:
            sys.stdout.writelines(late)
            late.clear()
        sys.stdout.write(line)
        sys.stdout.flush()
    sys.exit(engine.wait())


if __name__ == "__main__":
    main()
