#!/usr/bin/env python3
"""Judges what the agent left behind, not how: a changed file whose name contains the task's hint.

1.0 when such a file was created or changed, 0.5 when only others were, 0.0 when nothing was.
"""

import json
import re
import subprocess
import sys
from pathlib import Path


def grade(given: dict) -> tuple[float, str, dict]:
    """Return the score, why, and what was found."""
    cwd = given.get("cwd")
    if not cwd:
        return 0.0, "no working directory", {}
    # The path goes to another program, so nothing may hide in it.
    if re.search(r"[;&|`$<>\n]", cwd) or ".." in Path(cwd).parts or cwd.startswith("-"):
        return 0.0, "invalid path", {}
    try:
        status = subprocess.run(
            ["git", "-C", cwd, "status", "--porcelain", "--untracked-files=all"],
            capture_output=True, text=True, check=True, timeout=20,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return 0.0, "not a git repository", {}
    lines = [line for line in status.stdout.splitlines() if line]
    created = [line[3:] for line in lines if line.startswith(("??", "A"))]
    modified = [line[3:] for line in lines if not line.startswith(("??", "A"))]
    outcome = {"filesCreated": created, "filesModified": modified}
    if not lines:
        return 0.0, "nothing was changed", outcome
    hint = (given.get("hint") or "").lower()
    if any(hint in Path(name).name.lower() for name in (*created, *modified)):
        return 1.0, "a file of that name was changed", outcome
    return 0.5, "only other files were changed", outcome


score, reasoning, outcome = grade(json.load(sys.stdin))
print(json.dumps({"pass": score == 1.0, "score": score, "reasoning": reasoning, "outcome": outcome}))
