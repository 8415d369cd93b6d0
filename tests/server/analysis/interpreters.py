"""Evaluating assertions on real Pythons, in a child process, as the engine does."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_SCRIPT = """
import builtins, json, re, sys
groups, context, full = json.load(sys.stdin)
NAMES = dict(len=len, any=any, all=all, re=re, str=str, int=int, float=float, bool=bool, list=list, dict=dict,
             **{"True": True, "False": False})
def outcome(text, names):
    try:
        if full:
            value = eval(text, {"__builtins__": builtins, **names})
        else:
            value = eval(text, {"__builtins__": {}}, names)
        return {"truth": bool(value), "value": repr(value), "error": None}
    except BaseException as error:
        return {"truth": False, "value": None, "error": type(error).__name__}
def outcomes(group, names):
    return [outcome(text, names) for text in group]
print(json.dumps([outcomes(group, {**context, **NAMES}) for group in groups]))
"""


@dataclass(frozen=True)
class Evaluated:
    """What became of one assertion: its truth, the text of its value, and the name of the exception."""

    truth: bool
    value: str | None
    error: str | None


def evaluate(
    python: str, groups: list[list[str]], context: dict[str, Any], *, full_builtins: bool = False
) -> list[list[Evaluated]]:
    """Evaluate groups of assertions, each group with a context of its own that its assertions share."""
    done = subprocess.run(
        [python, "-W", "ignore", "-c", _SCRIPT],
        input=json.dumps([groups, context, full_builtins]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [[Evaluated(**outcome) for outcome in group] for group in json.loads(done.stdout)]


@cache
def interpreters() -> dict[str, str]:
    """Return version → path of the Pythons from 3.11 to 3.14 at hand, the running one included."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    for version in ("3.11", "3.12", "3.13", "3.14"):
        candidates = [shutil.which(f"python{version}")]
        candidates += [str(path) for path in Path.home().glob(f".pyenv/versions/{version}*/bin/python")]
        for candidate in candidates:
            if version not in found and candidate and _is_python(candidate, version):
                found[version] = candidate
    return found


def _is_python(path: str, version: str) -> bool:
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", asked], capture_output=True, text=True, timeout=20, check=False)
    except OSError:
        return False
    return done.stdout.strip() == version
