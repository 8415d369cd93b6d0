"""Quick fixes by the code of a diagnostic: a module a code, found by its name.

``duplicate_key.py`` has the fixes of ``duplicate-key``: a function ``fixes(view, problem)`` that yields them.
To add a fix, write or extend that one module. It is imported with the first problem of its code. A rule may
give its problems fixes as well, where only it knows what was intended; those come first.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import cast

from waza_language_server.analysis.failures import note_rule_failure
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.text.edit import Fix

FixMaker = Callable[[FileView, Problem], Iterator[Fix]]
"""Yields the fixes of one problem, the likeliest first."""


def with_fixes(view: FileView, problem: Problem) -> Problem:
    """Return a problem with the fixes of its code; a maker that fails adds none."""
    if problem.code not in codes():
        return problem
    try:
        found = tuple(maker_of(problem.code)(view, problem))
    except Exception as error:  # noqa: BLE001 - noted
        note_rule_failure(f"fixes of {problem.code}", error)
        return problem
    return replace(problem, fixes=(*problem.fixes, *found))


@cache
def codes() -> frozenset[str]:
    """Return the codes that have a module here."""
    return frozenset(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


@cache
def maker_of(code: str) -> FixMaker:
    """Return the function that makes the fixes of a code."""
    return cast("FixMaker", import_module(f"{__name__}.{code.replace('-', '_')}").fixes)
