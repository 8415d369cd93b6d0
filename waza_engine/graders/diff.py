"""The `diff` grader: files in the workspace against snapshots and fragments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from waza_engine.boundary import Boundary, suite_boundary
from waza_engine.files import decoded, write_atomically
from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.file import LARGEST_FILE_BYTES, read_workspace_file
from waza_engine.graders.matching.strings import line_end_advice, quoted
from waza_engine.graders.paths import beside_suite, from_working_directory, leads_outside, workspace_path
from waza_engine.graders.registry import register
from waza_engine.spec.block import Given, misspelt
from waza_engine.spec.fields import ListOf, PlainText, Switch, TextList, kind
from waza_engine.vocabulary import Check


class ExpectedFile(GraderConfig):
    """One file and what it must be."""

    path: Annotated[PlainText, kind("path.workspace")] = Field(
        description="The file, relative to the workspace.",
        examples=["src/main.py"],
        min_length=1,
    )
    snapshot: Annotated[PlainText, kind("path.suite")] | None = Field(
        default=None,
        description=(
            "A file with exactly the wanted content: "
            "relative to `context_dir`, else to the fixtures, else to the eval file."
        ),
        examples=["snapshots/main.py"],
    )
    contains: TextList = Field(
        default=(),
        description=(
            "Fragments of the file: `+text` or `text` must be in it, `-text` must not. "
            "Blanks around the fragment do not count; to look for a leading `+` or `-`, double the sign."
        ),
        examples=[["+def new_function():", "-def old_function():"]],
    )

    at_least_one: ClassVar = {"snapshot": Given.WRITTEN, "contains": Given.LISTED}
    misspellings: ClassVar = misspelt(
        {
            "path": "file",
            "snapshot": ("expected", "snapshot_file"),
            "contains": ("fragments", "includes", "must_contain", "content"),
        }
    )
    uncertain: ClassVar = frozenset({"content", "expected"})


class DiffConfig(GraderConfig):
    """The files to compare."""

    expected_files: Annotated[tuple[ExpectedFile, ...], ListOf(texts=False)] = Field(
        description="The files, each with a snapshot, fragments, or both.", min_length=1
    )
    context_dir: Annotated[PlainText, kind("path.suite")] | None = Field(
        default=None,
        description=(
            "The folder of the snapshots, relative to the eval file, else to the working directory "
            "or a folder above; snapshots must lie inside it. "
            "Default: the fixtures folder, then the folder of the eval file."
        ),
        examples=["snapshots"],
    )
    update_snapshots: Switch = Field(
        default=False,
        description=(
            "Write the files of the workspace over the snapshots instead of comparing; the checks then pass."
        ),
    )

    misspellings: ClassVar = misspelt({"expected_files": ("files", "expected"), "update_snapshots": "update"})
    uncertain: ClassVar = frozenset({"expected"})


@register
class DiffGrader(Grader[DiffConfig]):
    """Compares files of the agent's workspace with snapshots, or looks for fragments in them.

    **Scoring:** for every file one check that it exists, one for its snapshot and one for every fragment;
    score = passed checks / all checks; it passes when all checks pass. A missing file fails all its checks.

    **Worth knowing:**

    - A snapshot must be equal byte for byte, line ends included.
    - Fragments are searched in the whole file, upper and lower case differ. Blanks at both ends of a fragment
      are dropped, so indentation is not compared; an empty fragment is a passed check.
    - Paths of files are relative to the workspace and must not leave it.
    """

    type = "diff"
    title = "Diff"
    config_model = DiffConfig
    needs_workspace = True
    reads_fixtures = True
    example = """\
- type: diff
  name: renames_function
  config:
    expected_files:
      - path: src/main.py
        contains:
          - +def new_function()
          - -def old_function()
"""

    @property
    def writes_files(self) -> bool:
        """With ``update_snapshots`` it does."""
        return self.config.update_snapshots

    def grade(self, context: GradingContext) -> Verdict:
        """Compare every file. Raises ``GraderError`` for a path outside the workspace."""
        workspace = context.workspace
        if workspace is None:
            return Verdict(0.0, False, "there is no workspace to look at")
        places = [workspace_path(workspace, expected.path) for expected in self.config.expected_files]
        checks: list[Check] = []
        updates: list[dict[str, object]] = []
        for index, (expected, place) in enumerate(zip(self.config.expected_files, places, strict=True)):
            checks += self._file_checks(context, workspace, index, expected, place, updates)
        return verdict_of_checks(
            checks,
            all_passed=_all_passed(updates),
            expected_files=[expected.path for expected in self.config.expected_files],
            workspace_dir=str(workspace),
            **({"snapshot_updates": updates} if updates else {}),
        )

    def _file_checks(
        self,
        context: GradingContext,
        workspace: Path,
        index: int,
        expected: ExpectedFile,
        place: Path,
        updates: list[dict[str, object]],
    ) -> list[Check]:
        at: tuple[str | int, ...] = ("expected_files", index)
        try:
            content = read_workspace_file(workspace, place)
        except OSError as error:
            unread = f"{expected.path} cannot be read: {error.strerror or error}"
            paths: list[tuple[str | int, ...]] = [(*at, "path")]
            paths += [(*at, "snapshot")] if expected.snapshot else []
            paths += [(*at, "contains", i) for i in range(len(expected.contains))]
            return [Check(path, False, unread) for path in paths]
        checks = [Check((*at, "path"), True)]
        if expected.snapshot:
            complaint, wanted = self._compare(context, expected.snapshot, expected.path, content, updates)
            checks.append(_snapshot_check((*at, "snapshot"), complaint, wanted, content))
        text = decoded(content)
        for number, fragment in enumerate(expected.contains):
            complaint = _fragment_complaint(fragment, text)
            checks.append(
                Check(
                    (*at, "contains", number),
                    not complaint,
                    f"{expected.path}: {complaint}" if complaint else "",
                )
            )
        return checks

    def _compare(
        self,
        context: GradingContext,
        written: str,
        path: str,
        content: bytes,
        updates: list[dict[str, object]],
    ) -> tuple[str, bytes | None]:
        """Return the error message and the content of the snapshot.

        The message is empty when the content equals the snapshot or was written to it.
        """
        place, folder = self.snapshot_place(context, written)
        if folder is not None and leads_outside(folder, place):
            return f"the snapshot {written} lies outside of {self.config.context_dir or 'the suite'}", None
        try:
            there = context.files.is_there(place)
            wanted = context.files.bytes_of(place, LARGEST_FILE_BYTES) if there else None
            if self.config.update_snapshots:
                within = suite_boundary(context.suite_directory)
                updates.append(_update(place, written, wanted, content, within))
                return "", wanted
        except OSError as error:
            return f"the snapshot {written} cannot be used: {error.strerror}", None
        if wanted is None:
            return f"the snapshot {written} does not exist", None
        return _difference(path, written, wanted, content), wanted

    def snapshot_place(self, context: GradingContext, written: str) -> tuple[Path, Path | None]:
        """Return the snapshot and the folder it must not leave: none for reading without ``context_dir``."""
        suite, fixtures, files = context.suite_directory, context.fixtures_directory, context.files
        if self.config.context_dir:
            folder = beside_suite(suite, self.config.context_dir, "config.context_dir")
            if not self.config.update_snapshots and not files.is_there(folder):
                folder = from_working_directory(suite, self.config.context_dir, "config.context_dir", files)
            return folder / written, folder
        root = suite
        if fixtures is not None and files.is_there(fixtures / written):
            root = fixtures
        if self.config.update_snapshots:
            return root / written, root
        place = root / written
        if root != suite and files.is_there(place):
            return place, root
        return from_working_directory(suite, written, "config.expected_files.snapshot", files), None


def _difference(path: str, snapshot: str, wanted: bytes, content: bytes) -> str:
    if wanted == content:
        return ""
    if wanted.replace(b"\r\n", b"\n") != content.replace(b"\r\n", b"\n"):
        return f"{path} differs from the snapshot {snapshot}"
    ends = "CRLF" if content.count(b"\r\n") > wanted.count(b"\r\n") else "LF"
    other = "LF" if ends == "CRLF" else "CRLF"
    return f"{path} differs from the snapshot {snapshot} in its line ends only: {ends} instead of {other}"


def _snapshot_check(
    path: tuple[str | int, ...], complaint: str, wanted: bytes | None, content: bytes
) -> Check:
    try:
        if wanted is not None:
            return Check.of_texts(path, complaint, wanted.decode("utf-8"), content.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    return Check(path, not complaint, complaint)


def _fragment_complaint(fragment: str, text: str) -> str:
    sign, wanted = sign_and_text(fragment)
    if not wanted:
        return ""
    if sign == "-":
        return f"forbidden fragment: {quoted(wanted)}" if wanted in text else ""
    if wanted in text:
        return ""
    return f"missing fragment: {quoted(wanted)}{line_end_advice(text, lambda text: wanted in text)}"


def sign_and_text(fragment: str) -> tuple[str, str]:
    """Return whether a fragment is wanted (``+`` or nothing) or forbidden (``-``), and its text."""
    sign = fragment[:1] if fragment[:1] in ("+", "-") else ""
    return sign, fragment[len(sign) :].strip()


def _update(
    place: Path, written: str, before: bytes | None, content: bytes, within: Boundary
) -> dict[str, object]:
    status = "created" if before is None else "unchanged" if before == content else "updated"
    if status != "unchanged":
        write_atomically(place, [content], within=within)
    return {"snapshot": written, "status": status, "lines_changed": _lines_changed(before or b"", content)}


def _lines_changed(before: bytes, after: bytes) -> int:
    if before == after:
        return 0
    old, new = (part.replace(b"\r\n", b"\n").split(b"\n") for part in (before, after))
    return sum(a != b for a, b in zip(old, new, strict=False)) + abs(len(old) - len(new))


def _all_passed(updates: list[dict[str, object]]) -> str:
    if not updates:
        return "All files are as expected"
    counts = {
        status: sum(u["status"] == status for u in updates) for status in ("updated", "created", "unchanged")
    }
    return "Snapshots: " + ", ".join(f"{count} {status}" for status, count in counts.items() if count)
