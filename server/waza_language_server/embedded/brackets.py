"""Helpers shared by the languages that have brackets and commas."""

from __future__ import annotations

from collections.abc import Callable, Sequence

CLOSERS = {"(": ")", "[": "]", "{": "}"}


def unclosed(marks: Sequence[str]) -> list[int]:
    """Return the indexes of the brackets that are not closed, among the strings of tokens."""
    opened: list[int] = []
    for index, mark in enumerate(marks):
        if mark in CLOSERS:
            opened.append(index)
        elif opened and mark == CLOSERS[marks[opened[-1]]]:
            opened.pop()
    return opened


def open_call(marks: Sequence[str], is_callee: Callable[[int], bool]) -> tuple[int, int] | None:
    """Return the index of the bracket that opens the innermost call, and how many commas follow it.

    ``marks`` are the strings of the tokens before the cursor, "" for those that are neither bracket nor
    comma. ``is_callee`` returns whether a token can be called. Commas of a list or a group do not count for
    the call around it.
    """
    depth, commas = 0, 0
    for index in range(len(marks) - 1, 0, -1):
        mark = marks[index]
        if mark in CLOSERS.values():
            depth += 1
        elif mark in CLOSERS and depth:
            depth -= 1
        elif mark == "(" and is_callee(index - 1):
            return index, commas
        elif mark in CLOSERS:
            commas = 0
        elif mark == "," and not depth:
            commas += 1
    return None
