"""The glob of tasks: problems, completion, hover and tokens."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code
from waza_engine.spec.reading.task_globs import GlobError, is_literal, segment_matcher, split_pattern
from waza_language_server.embedded.language import (
    NOWHERE,
    Checked,
    CompletionWord,
    Explanation,
    Finding,
    Language,
    Surroundings,
    Token,
)

_DEEP = "`**` means the same as `*` here: it stays within one folder."


class Globs(Language):
    """Patterns of paths, which a run matches with the rules of Go's ``filepath.Glob``."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return the problems of an invalid glob."""
        try:
            for segment in split_pattern(value):
                segment_matcher(segment)
        except GlobError as error:
            message = f'"{value}" is not a glob: {error}; the run stops here.'
            return Checked((Finding("bad-task-glob", 0, 0, message),))
        return Checked()

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[CompletionWord]:
        """Yield globs that match and files that can be named; each replaces the entire value."""
        for path, about in around.paths():
            yield CompletionWord(path, "file", about, "", offset)

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Show which files the glob matches, at any offset in it."""
        files = around.files()
        if files is None:
            return None
        lines = [f"**{counted(files.count, 'file')}**", ""]
        lines += [f"- {code(path)}" for path in files.first]
        if files.count > len(files.first):
            lines.append(f"- … and {files.count - len(files.first)} more")
        if any("**" in segment and not is_literal(segment) for segment in split_pattern(value)):
            lines += ["", _DEEP]
        return Explanation(0, len(value), "\n".join(lines))

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the wildcards, the character sets and the escapes; linear in the length of the value."""
        position = 0
        closes = True
        while found := _PART.search(value, position):
            position = found.end()
            if found.lastgroup == "open":
                # If one set is not closed until the end, no later one is.
                if closes and (of_set := _SET.match(value, found.start())):
                    closes = of_set["close"] is not None
                    if closes:
                        position = of_set.end()
                        yield Token(*of_set.span(), "regexp", "class")
            elif found.lastgroup == "escape":
                # On other systems a backslash separates folders.
                if os.sep == "/":
                    yield Token(*found.span(), "regexp", "escape")
            else:
                yield Token(*found.span(), "operator")


_PART = compiled_later(r"(?P<wild>\*+|\?)|(?P<open>\[)|(?P<escape>\\.)", re.DOTALL)
_SET = compiled_later(r"\[\^?(?:\\.|[^\]\\])++(?P<close>\])?", re.DOTALL)
