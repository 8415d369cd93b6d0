"""Text that is no Markdown, inside of Markdown: the one place that quotes it, for editors and for GitHub.

Markdown fetches images, makes links (some from bare addresses), runs HTML and mentions people. In code it
does none of that, and text shows as written; so what comes from files and models stands in code.

Architecture invariant: light (the language server imports it).
"""

from __future__ import annotations

import re

from waza_engine.terminal import visible, visible_lines

_TICKS = re.compile("`+")


def code(text: str) -> str:
    """Return text on one line as inline code, "" for blank text. Runs of blanks become one."""
    text = visible(" ".join(text.split()))
    if not text:
        return ""
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def cell(text: str) -> str:
    """Return text as inline code for a cell of a table, where a bar needs a backslash even in code."""
    # A backslash before a bar is read in two ways, so it is written out.
    return code(text.replace("\\|", "\\x5c|")).replace("|", "\\|")


def fenced(text: str, language: str = "text") -> str:
    """Return text of several lines in a fence of code that it cannot leave."""
    text = visible_lines(text)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
