#!/usr/bin/env python3
"""Passes when the answer contains the task's hint, whatever its case; without a hint every answer passes."""

import json
import sys

given = json.load(sys.stdin)
hint = (given.get("hint") or "").lower()
found = hint in given.get("output", "").lower()
print(
    json.dumps(
        {
            "pass": found,
            "score": float(found),
            "reasoning": "contains the hint" if found else "lacks the hint",
        }
    )
)
