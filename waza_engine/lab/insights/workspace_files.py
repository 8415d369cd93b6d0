"""The insight into graders of the files that an agent left."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from waza_engine.files import decoded
from waza_engine.graders.base import GradingContext
from waza_engine.graders.diff import DiffGrader, sign_and_text
from waza_engine.graders.file import LARGEST_FILE_BYTES, FileGrader, globbed, read_workspace_file
from waza_engine.graders.paths import leads_outside, workspace_path
from waza_engine.lab.explaining import explain_difference, explain_pattern, explain_text
from waza_engine.lab.insight import Explanation, FileProposal, Insight, Proposal, RulePath, insight_into
from waza_engine.lab.proposing import propose_texts
from waza_engine.lab.samples import MOST_SAMPLES, Samples, samples_of_patterns
from waza_engine.vocabulary import LONGEST_COMPARED


@insight_into(FileGrader)
class FileInsight(Insight[FileGrader]):
    """The paths and patterns of `file`."""

    evidence = frozenset({"files"})

    def looks_at(self, workspace: Path) -> Sequence[Path]:
        """Return the places of its paths. Raises ``GraderError`` for one outside the workspace."""
        config = self.config
        paths = (*config.must_exist, *config.must_not_exist, *(each.path for each in config.content_patterns))
        return [place for path in paths for place in _places(workspace, path, globs=self.config.globs)]

    def looks_into(self, workspace: Path) -> Sequence[Path]:
        """Return the places of the files that have patterns. Raises ``GraderError`` for one outside."""
        return [
            place
            for each in self.config.content_patterns
            for place in _places(workspace, each.path, globs=self.config.globs)
        ]

    def samples(self, context: GradingContext) -> Samples:
        """Return strings that match the patterns."""
        del context
        entries = self.config.content_patterns
        return samples_of_patterns(
            pattern for entry in entries for pattern in (*entry.must_match, *entry.must_not_match)
        )

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return where a pattern occurs in a file, or the nearest match."""
        workspace = context.workspace
        match path:
            case ("content_patterns", int(index), "must_match" | "must_not_match" as key, int(number)) if (
                workspace
            ):
                entry = self.config.content_patterns[index]
                patterns: Sequence[str] = getattr(entry, key)
            case _:
                return None
        place = next(iter(_places(workspace, entry.path, globs=self.config.globs)))
        try:
            text = decoded(read_workspace_file(workspace, place))
        except OSError as error:
            return Explanation("no file", (f"{entry.path} cannot be read: {error.strerror or error}",))
        return explain_pattern(patterns[number], text, wherein=entry.path)


def _places(workspace: Path, path: str, *, globs: bool) -> Sequence[Path]:
    """Return the places of a path: of a glob all that match, or itself without any."""
    place = workspace_path(workspace, path)
    return globbed(workspace, path, place, globs=globs) or [place]


_MOST_SNAPSHOTS = 2


@insight_into(DiffGrader)
class DiffInsight(Insight[DiffGrader]):
    """The snapshots and fragments of `diff`."""

    evidence = frozenset({"files"})

    def looks_at(self, workspace: Path) -> Sequence[Path]:
        """Return the places of its files. Raises ``GraderError`` for one outside the workspace."""
        return [workspace_path(workspace, expected.path) for expected in self.config.expected_files]

    def samples(self, context: GradingContext) -> Samples:
        """Return the fragments, which are not patterns, without their leading ``+`` or ``-``."""
        del context
        fragments = (fragment for expected in self.config.expected_files for fragment in expected.contains)
        texts = tuple(dict.fromkeys(text for fragment in fragments if (text := sign_and_text(fragment)[1])))
        return Samples(texts[:MOST_SAMPLES], len(texts) <= MOST_SAMPLES)

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Show how a file differs from its snapshot, or its nearest match of a fragment."""
        workspace = context.workspace
        match path:
            case ("expected_files", int(index), "snapshot" | "contains" as key, *rest) if workspace:
                expected = self.config.expected_files[index]
            case _:
                return None
        try:
            content = read_workspace_file(workspace, workspace_path(workspace, expected.path))
        except OSError as error:
            return Explanation("no file", (f"{expected.path} cannot be read: {error.strerror or error}",))
        if key == "snapshot" and expected.snapshot:
            return self._explain_snapshot(context, expected.snapshot, content)
        if rest and isinstance(rest[0], int):
            _, wanted = sign_and_text(expected.contains[rest[0]])
            return explain_text(wanted, decoded(content), ignore_case=False, wherein=expected.path)
        return None

    def propose(
        self, contexts: Sequence[GradingContext], path: RulePath
    ) -> Iterator[Proposal | FileProposal]:
        """Propose the agent's output as the snapshot, and fragments as they occur in its files."""
        match path:
            case ("expected_files", int(index), "snapshot" | "contains" as key, *rest):
                expected = self.config.expected_files[index]
            case _:
                return
        written: list[str] = []
        for context in contexts:
            if context.workspace is not None:
                with contextlib.suppress(OSError, UnicodeDecodeError):
                    place = workspace_path(context.workspace, expected.path)
                    written.append(read_workspace_file(context.workspace, place).decode("utf-8"))
        if key == "contains" and rest and isinstance(rest[0], int):
            sign, wanted = sign_and_text(expected.contains[rest[0]])
            for one in propose_texts(path, wanted, written, ignore_case=False) if sign != "-" else ():
                yield replace(one, value=f"{sign}{one.value}")
        elif expected.snapshot and contexts:
            place, folder = self.grader.snapshot_place(contexts[0], expected.snapshot)
            homes = [folder] if folder else [contexts[0].suite_directory, contexts[0].fixtures_directory]
            if any(home is not None and not leads_outside(home, place) for home in homes):
                for text, _ in Counter(written).most_common(_MOST_SNAPSHOTS):
                    if len(text) <= LONGEST_COMPARED:
                        words = f"Accept what the agent wrote as snapshot {expected.snapshot}"
                        yield FileProposal(words, place, text)

    def _explain_snapshot(self, context: GradingContext, written: str, content: bytes) -> Explanation:
        place, folder = self.grader.snapshot_place(context, written)
        if folder is not None and leads_outside(folder, place):
            return Explanation("outside", (f"the snapshot {written} lies outside of its folder",))
        try:
            wanted = context.files.bytes_of(place, LARGEST_FILE_BYTES)
        except OSError as error:
            return Explanation("no snapshot", (f"the snapshot {written} cannot be read: {error.strerror}",))
        if max(len(wanted), len(content)) > LONGEST_COMPARED:
            return Explanation("differs", ("the files are too long to be compared here",))
        return explain_difference(decoded(wanted), decoded(content))
