"""Random changes of a workspace, and of what is around it."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from tests.server.kept.suites import EVAL, TASK

PROGRAM = "judge-of-this-test"
_REPLACED = [("first", "second"), ("greets", "says"), ("/", "/x"), ("\n", "\n\n")]
_NAMES = ["missing.txt", "gone.yaml", "eval.yaml", "SKILL.md", "check.py", "waza.lock"]
_CONFIGS = ["files: {evalFile: first.yaml}\n", "# waza: severity[missing-file=off]\n"]


def change_something(root: Path, chance: random.Random) -> str:
    """Change a file, a folder or a link; return what was done."""
    places = sorted(place for place in root.rglob("*") if not place.is_symlink())
    files = [place for place in places if place.is_file()]
    change = chance.choice(_CHANGES)
    place = chance.choice(files if change in (_edit, _swap) else places)
    change(root, place, chance.choice(files), chance)
    return f"{change.__name__} {place}"


def install(folder: Path) -> None:
    """Let a program be found in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / PROGRAM).write_text("#!/bin/sh\n")
    (folder / PROGRAM).chmod(0o755)


def _edit(_root: Path, place: Path, _other: Path, chance: random.Random) -> None:
    place.write_text(place.read_text().replace(*chance.choice(_REPLACED), 1))


def _delete(_root: Path, place: Path, _other: Path, _chance: random.Random) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()


def _rename(_root: Path, place: Path, _other: Path, chance: random.Random) -> None:
    new = place.with_name(chance.choice([f"other-{place.name}", place.name.upper(), "gone.yaml"]))
    if not new.exists():
        place.rename(new)


def _link(root: Path, place: Path, _other: Path, chance: random.Random) -> None:
    """Let it go on elsewhere, in the workspace or outside of it, with a link in its place."""
    target = chance.choice([root, root.parent]) / f"moved-{chance.randrange(10**6)}"
    place.rename(target)
    place.symlink_to(target)


def _swap(_root: Path, place: Path, other: Path, _chance: random.Random) -> None:
    one, two = place.read_bytes(), other.read_bytes()
    place.write_bytes(two)
    other.write_bytes(one)


def _copy(_root: Path, place: Path, other: Path, _chance: random.Random) -> None:
    folder = place if place.is_dir() else place.parent
    if not (folder / other.name).exists():
        shutil.copy2(other, folder / other.name)


def _add(_root: Path, place: Path, _other: Path, chance: random.Random) -> None:
    new = (place if place.is_dir() else place.parent) / chance.choice(_NAMES)
    if not new.exists():
        new.write_text(chance.choice([EVAL, TASK, ""]))


def _config(root: Path, _place: Path, _other: Path, chance: random.Random) -> None:
    folder = chance.choice([root, root.parent, root / "evals"])
    if folder.is_dir():
        (folder / ".waza.yaml").write_text(chance.choice(_CONFIGS))


def _program(root: Path, _place: Path, _other: Path, chance: random.Random) -> None:
    folder = programs_of(root)
    if chance.random() < 0.5:
        install(folder)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _repository(root: Path, _place: Path, _other: Path, chance: random.Random) -> None:
    folder = chance.choice([root.parent, root / "evals"])
    if folder.is_dir():
        (folder / ".git").mkdir(exist_ok=True)


def programs_of(root: Path) -> Path:
    """Return where the programs of these tests are."""
    return root.parent / "bin"


_CHANGES = (_edit, _delete, _rename, _link, _swap, _copy, _add, _config, _program, _repository)
