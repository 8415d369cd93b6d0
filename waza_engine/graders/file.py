"""The `file` grader: files in the agent's workspace and what they contain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias

from pydantic import Field

from waza_engine.boundary import Boundary
from waza_engine.files import decoded, read_bytes
from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.matching.workspace_globs import is_glob, matching_paths
from waza_engine.graders.paths import is_there, leads_outside, workspace_path
from waza_engine.graders.registry import register
from waza_engine.graders.text import pattern_check, unjudged_if_invalid, why_invalid
from waza_engine.spec.block import Given, misspelt
from waza_engine.spec.fields import ListOf, PatternList, PlainText, Switch, WorkspacePathList, kind
from waza_engine.vocabulary import Check

LARGEST_FILE_BYTES = 50_000_000
_LEADS_OUTSIDE = "is a link that leads out of the workspace"
RulePath: TypeAlias = tuple[str | int, ...]


class ContentPatterns(GraderConfig):
    """Patterns for the content of one file."""

    path: Annotated[PlainText, kind("path.workspace")] = Field(
        description="The file, relative to the workspace; with `globs` a glob.",
        examples=["package.json"],
        min_length=1,
    )
    must_match: PatternList = Field(
        default=(),
        description="Regular expressions (RE2) that must match somewhere in the file.",
        examples=[['"name":\\s*"my-app"']],
    )
    must_not_match: PatternList = Field(
        default=(),
        description="Regular expressions (RE2) that must not match anywhere in the file.",
        examples=[["TODO|FIXME"]],
    )

    misspellings: ClassVar = misspelt(
        {
            "path": "file",
            "must_match": ("pattern", "patterns", "regex_match", "contains"),
            "must_not_match": ("regex_not_match", "not_contains"),
        }
    )
    uncertain: ClassVar = frozenset({"contains", "not_contains"})
    recommended: ClassVar = (
        {
            "key": "must_match",
            "severity": "information",
            "why": "without `must_match` and `must_not_match` only the existence of the file is checked",
        },
    )


class FileConfig(GraderConfig):
    """Files that must or must not exist, and their required contents."""

    must_exist: WorkspacePathList = Field(
        default=(),
        description="Files or folders, relative to the workspace, that must exist after the run.",
        examples=[["src/index.ts", "package.json"]],
    )
    must_not_exist: WorkspacePathList = Field(
        default=(),
        description="Files or folders, relative to the workspace, that must not exist after the run.",
        examples=[[".env", "node_modules/"]],
    )
    content_patterns: Annotated[tuple[ContentPatterns, ...], ListOf(texts=False)] = Field(
        default=(), description="Patterns for the content of single files."
    )
    globs: Switch = Field(
        default=False,
        description=(
            "The paths may be globs (`*`, `**`, `?`, `{a,b}`). Upstream does not know this key: "
            "there a path is always the name of a file."
        ),
        examples=[True],
    )

    at_least_one: ClassVar = dict.fromkeys(("must_exist", "must_not_exist", "content_patterns"), Given.LISTED)
    misspellings: ClassVar = misspelt(
        {
            "must_exist": ("exists", "files", "should_exist", "files_exist"),
            "must_not_exist": ("not_exists", "should_not_exist"),
            "content_patterns": ("patterns", "contents"),
        }
    )
    uncertain: ClassVar = frozenset({"files", "patterns", "contents"})


@register
class FileGrader(Grader[FileConfig]):
    """Looks at the files that the agent left in its workspace.

    **Scoring:** one check for every path that must or must not exist; for every entry of `content_patterns`
    one check that the file can be read and one for every pattern. Score = passed checks / all checks; it
    passes when all checks pass.

    **Worth knowing:**

    - Paths are relative to the workspace. Absolute paths and paths that leave the workspace are errors.
    - Folders count as existing, and a `/` at the end does no harm.
    - With `globs: true` a path with `*`, `**`, `?` or `{a,b}` is a glob, unless a file has that very name;
      names with a leading dot match, too. `must_exist` needs one match, `must_not_exist` none; `must_match`
      must match in one of the files, `must_not_match` in none.
    - When a file of `content_patterns` cannot be read, its patterns fail too, those of `must_not_match`
      included.
    - Patterns are RE2 over the whole file; add `(?m)` to mean lines and `(?i)` to ignore case.
    - A link that leads out of the workspace is not followed: its checks fail.
    """

    type = "file"
    title = "Files"
    other_names = ("files",)
    config_model = FileConfig
    needs_workspace = True
    example = """\
- type: file
  name: project_files
  config:
    must_exist:
      - src/index.ts
    must_not_exist:
      - .env
    content_patterns:
      - path: package.json
        must_match:
          - '"name":\\s*"my-app"'
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Check every path first, then the files. Raises ``GraderError`` for a path outside the workspace."""
        workspace, config = context.workspace, self.config
        if workspace is None:
            return Verdict(0.0, False, "there is no workspace to look at")
        entries = [(entry, workspace_path(workspace, entry.path)) for entry in config.content_patterns]
        present = [(path, workspace_path(workspace, path)) for path in config.must_exist]
        absent = [(path, workspace_path(workspace, path)) for path in config.must_not_exist]
        globs = config.globs
        checks = [
            _must_exist(workspace, i, path, place, globs=globs) for i, (path, place) in enumerate(present)
        ]
        checks += [
            _must_not_exist(workspace, i, path, place, globs=globs) for i, (path, place) in enumerate(absent)
        ]
        for index, (entry, place) in enumerate(entries):
            checks += _content(workspace, index, entry, place, globs=globs)
        patterns = {at: p for i, (entry, _) in enumerate(entries) for at, p, _ in _patterns(i, entry)}
        return verdict_of_checks(
            checks,
            all_passed="All file checks passed",
            **config.model_dump(mode="json"),
            **unjudged_if_invalid(checks, patterns),
            workspace_dir=str(workspace),
        )


def read_workspace_file(workspace: Path, place: Path) -> bytes:
    """Return the content of a file. Raises ``OSError``, also for a link that leads out of the workspace."""
    if leads_outside(workspace, place):
        raise PermissionError(f"it {_LEADS_OUTSIDE}")
    return read_bytes(place, LARGEST_FILE_BYTES, within=Boundary.around(workspace, name="the workspace"))


def globbed(workspace: Path, path: str, place: Path, *, globs: bool) -> list[Path] | None:
    """Return what matches a glob; None for a plain path, and for one that exists as it is written.

    Links that lead out of the workspace are among them. Raises ``GraderError`` as ``matching_paths``.
    """
    if not globs or not is_glob(path) or is_there(place):
        return None
    return matching_paths(workspace, path)


def _must_exist(workspace: Path, index: int, path: str, place: Path, *, globs: bool) -> Check:
    matched = globbed(workspace, path, place, globs=globs)
    if matched is not None:
        found = any(not leads_outside(workspace, each) for each in matched)
        return Check(("must_exist", index), found, "" if found else f"nothing matches {path}")
    if _exists(place) and not leads_outside(workspace, place):
        return Check(("must_exist", index), True)
    why = _LEADS_OUTSIDE if _exists(place) else "does not exist"
    return Check(("must_exist", index), False, f"{path} {why}")


def _must_not_exist(workspace: Path, index: int, path: str, place: Path, *, globs: bool) -> Check:
    matched = globbed(workspace, path, place, globs=globs)
    if matched is not None:
        exists = f"{matched[0].relative_to(workspace).as_posix()} exists but must not" if matched else ""
        return Check(("must_not_exist", index), not matched, exists)
    there = is_there(place)
    return Check(("must_not_exist", index), not there, f"{path} exists but must not" if there else "")


def _exists(place: Path) -> bool:
    """Return whether a path exists, as upstream does: only "not found" means no."""
    try:
        os.stat(place)  # noqa: PTH116 - Path.exists hides the difference between absent and unreadable
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return True


def _patterns(index: int, entry: ContentPatterns) -> list[tuple[RulePath, str, bool]]:
    """Return the patterns of an entry with their paths, and whether they must match."""
    wanted: list[tuple[RulePath, str, bool]] = []
    wanted += [
        (("content_patterns", index, "must_match", i), p, True) for i, p in enumerate(entry.must_match)
    ]
    wanted += [
        (("content_patterns", index, "must_not_match", i), p, False)
        for i, p in enumerate(entry.must_not_match)
    ]
    return wanted


def _content(workspace: Path, index: int, entry: ContentPatterns, place: Path, *, globs: bool) -> list[Check]:
    wanted = _patterns(index, entry)
    path = ("content_patterns", index, "path")
    matched = globbed(workspace, entry.path, place, globs=globs)
    if matched is not None:
        return _content_of_any(workspace, entry, matched, wanted, path)
    try:
        text = decoded(read_workspace_file(workspace, place))
    except OSError as error:
        unread = f"{entry.path} cannot be read"
        reason = error.strerror or str(error)
        return [
            Check(path, False, f"{unread}: {reason}"),
            *(Check(at, False, f"{unread} for {p}") for at, p, _ in wanted),
        ]
    return [
        Check(path, True),
        *(pattern_check(at, pattern, text, wanted=match, of=entry.path) for at, pattern, match in wanted),
    ]


def _content_of_any(
    workspace: Path,
    entry: ContentPatterns,
    matched: Sequence[Path],
    wanted: Sequence[tuple[RulePath, str, bool]],
    path: RulePath,
) -> list[Check]:
    """Return a check for each pattern over the files of a glob: some match must be there, or none.

    The target of a link out of the workspace is not read: it may have a match.
    """
    outside = [each for each in matched if leads_outside(workspace, each)]
    files = [each for each in matched if each not in outside and each.is_file()]
    if not wanted:
        return [Check(path, bool(files), "" if files else f"no file matches {entry.path}")]
    texts = {place: decoded(read_workspace_file(workspace, place)) for place in files}
    checks: list[Check] = []
    for at, pattern, match in wanted:
        if invalid := why_invalid(pattern):
            checks.append(Check(at, False, f"{entry.path}: {invalid}"))
            continue
        each = [
            pattern_check(at, pattern, text, wanted=match, of=place.relative_to(workspace).as_posix())
            for place, text in texts.items()
        ]
        if outside and not match:
            each.append(Check(at, False, f"{outside[0].relative_to(workspace).as_posix()} {_LEADS_OUTSIDE}"))
        deciding = next((check for check in each if check.passed == match), None)
        none = f"no match for the pattern `{pattern}` in the files of {entry.path}" if match else ""
        checks.append(deciding or Check(at, not match, none))
    return checks
