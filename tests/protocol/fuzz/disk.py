"""What happens to the files of a workspace while it is open, friendly and hostile."""

import base64
import contextlib
import os
import random
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from tests.protocol.fuzz.findings import Step

LARGEST_BYTES = 6_000_000
NAMES = ("eval.yaml", "eval.yml", ".waza.yaml", "trigger_tests.yaml", "SKILL.md", "wazaEval.yaml")
FOLDERS = ("", "tasks/", "tasks/deep/", "fixtures/", ".waza/results/", "skills/one/")
OTHER_NAMES = (
    "one.yaml",
    "two.yml",
    "three.yaml",
    "notes.md",
    "caf\udce9.yaml",
    "\U0001f600.yaml",
    "a b.yaml",
)
OUTSIDE = "outside"
SECRET = "secret-of-outside"
"""What the files outside of the workspace say, and how some are called: no answer may ever hold it."""
SPECIAL_TARGETS = ("/proc/self/fd/3", "/proc/self/fd/0", "/dev/zero", "/dev/tty", "/proc/kmsg")
PROJECTS = (
    "files: {evalFile: one.yaml}\n",
    "files: {evalFile: [1]}\n",
    "files:\n  evalFile: ../eval.yaml\n",
    "defaults: {model: gpt-x}\n",
    "just a word\n",
    "a: [\n",
    "",
)
RESULTS = (
    '{"tasks": [',
    '{"tasks": 7, "summary": []}',
    "[]",
    '{"eval_id": "x", "config": {"model_id": "![a](http://127.0.0.1:9/)"}, "tasks": [{"test_id": "one"}]}',
    "nan",
)


def apply(root: Path, step: Step) -> None:
    """Carry out a step below ``root``; what the disk refuses does not happen."""
    path = root / step["path"]
    # A link that leads out of the root is what the server may meet, never what is written through.
    if not _is_inside(root, path.parent):
        return
    with contextlib.suppress(OSError, ValueError):
        _apply(root, path, step)


def _is_inside(root: Path, folder: Path) -> bool:
    try:
        return folder.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        return False


def _apply(root: Path, path: Path, step: Step) -> None:
    operation = step["operation"]
    if operation in ("write", "bytes", "huge", "fifo", "link", "directory"):
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path)
    if operation == "write":
        path.write_text(step["text"], "utf-8", "replace", newline="")
    elif operation == "bytes":
        path.write_bytes(base64.b64decode(step["base64"]))
    elif operation == "huge":
        path.write_bytes(step["text"].encode("utf-8", "replace") * (step["size"] // len(step["text"])))
    elif operation == "fifo":
        os.mkfifo(path)
    elif operation == "link":
        path.symlink_to(step["target"].replace("$ROOT", str(root)))
    elif operation == "directory":
        path.mkdir()
    elif operation == "delete":
        _delete(path)
    elif operation == "rename" and _is_inside(root, (root / step["to"]).parent):
        path.rename(root / step["to"])
    elif operation == "truncate" and _is_regular(path):
        os.truncate(path, path.stat().st_size // 2)
    elif operation == "mode" and _is_regular(path):
        path.chmod(step["mode"])


def _is_regular(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _make_room(path: Path) -> None:
    if os.path.lexists(path) and not _is_regular(path):
        _delete(path)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def random_operation(chance: random.Random, suites: Sequence[str], texts: Sequence[str]) -> Step:
    """Return one change of the disk in one of the ``suites``, folders below the root."""
    path = random_path(chance, suites)
    kinds = ["write"] * 6 + ["delete"] * 2 + ["rename", "truncate", "mode", "bytes", "directory", "project"]
    kinds += ["result", "huge", "link", "loop", "dangling", "self", "outside", "fifo", "special"]
    return _operation(chance, chance.choice(kinds), path, suites, texts)


def random_path(chance: random.Random, suites: Sequence[str]) -> str:
    """Return a path below the root that may or may not exist."""
    names = NAMES if chance.random() < 0.5 else OTHER_NAMES
    return f"{chance.choice(suites)}/{chance.choice(FOLDERS)}{chance.choice(names)}"


def _operation(
    chance: random.Random,
    kind: str,
    path: str,
    suites: Sequence[str],
    texts: Sequence[str],
) -> Step:
    suite = chance.choice(suites)
    step: Step = {"do": "disk", "operation": kind, "path": path}
    if kind == "write":
        step["text"] = chance.choice(texts)
    elif kind == "rename":
        step["to"] = random_path(chance, suites)
    elif kind == "mode":
        step["mode"] = chance.choice([0o000, 0o200, 0o444, 0o644])
    elif kind == "bytes":
        data = chance.randbytes(chance.choice([0, 1, 100, 5000]))
        step["base64"] = base64.b64encode(data).decode()
    elif kind == "project":
        step |= {"operation": "write", "path": f"{suite}/.waza.yaml", "text": chance.choice(PROJECTS)}
    elif kind == "result":
        name = f"2026010{chance.randrange(1, 9)}T000000Z-x.json"
        step |= {
            "operation": "write",
            "path": f"{suite}/.waza/results/{name}",
            "text": chance.choice(RESULTS),
        }
    elif kind == "huge":
        step |= {"text": "# nothing here\n", "size": chance.choice([100_000, LARGEST_BYTES])}
    else:
        targets = {
            "link": f"$ROOT/{random_path(chance, suites)}",
            "loop": ".",
            "dangling": "nowhere/at/all",
            "self": path.rpartition("/")[2],
            "outside": chance.choice([f"$ROOT/{OUTSIDE}/task.yaml", f"$ROOT/{OUTSIDE}", "/"]),
            "special": chance.choice(SPECIAL_TARGETS),
        }
        if kind in targets:
            step |= {"operation": "link", "target": targets[kind]}
    return step
