"""The names of a suite's files.

Light on purpose: the language server loads it too.
"""

from __future__ import annotations

EVAL_NAMES = ("eval.yaml", "eval.yml")
