"""Editor features for globs of task files: diagnostics, completion of matching files, hover."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.counting import counted
from waza_engine.markdown import code
from waza_engine.spec.reading.task_globs import GlobError, is_literal, segment_matcher, split_pattern
from waza_language_server.embedded.language import (
    NOWHERE,
    Checked,
    Explanation,
    Finding,
    Signature,
    Surroundings,
    Token,
    Word,
)

_DEEP = "`**` is no more than `*` here: it stays within one folder."


class Globs:
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

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[Word]:
        """Yield globs that match and files that can be named; each replaces the entire value."""
        for path, about in around.paths():
            yield Word(path, "file", about, "", offset)

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

    def signature(self, value: str, offset: int) -> Signature | None:
        """Return None: globs have no calls."""
        return None

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight."""
        from waza_language_server.embedded.glob.tokens import glob_tokens

        return glob_tokens(value)
