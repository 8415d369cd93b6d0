"""Markdown rubrics: frontmatter that says what the rubric is, and a body that the judge reads.

A file without frontmatter is a rubric in plain words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from waza_engine.graders.judging.rubric import Rubric
from waza_engine.graders.judging.scales import linear
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_files import SuiteFiles
from waza_engine.spec.reading.yaml_reader import YamlFile, parse_yaml, read_text

SCALES = ("pass-fail", "1-5")
Block = Mapping[str, Any]
_SEMVER = re.compile(r"v?\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?", re.ASCII)
_CLOSING = re.compile(r"^---\s*$", re.MULTILINE)


def read_markdown_rubric(path: Path, files: SuiteFiles) -> Rubric:
    """Return the rubric of a Markdown file. Raises ``SuiteFileError``."""
    text = read_text(path, files=files)
    if not text.strip():
        raise SuiteFileError(path, 1, "the file is empty")
    if not re.match(r"---[ \t]*\r?\n", text):
        return Rubric(text)
    start = text.index("\n") + 1
    closing = _CLOSING.search(text, start)
    if closing is None:
        raise SuiteFileError(path, 1, "the frontmatter has no closing line `---`")
    # The opening line is kept as an empty one, so that lines of the frontmatter are lines of the file.
    frontmatter = parse_yaml("\n" + text[start : closing.start()], path)
    if not isinstance(frontmatter.value, dict):
        raise SuiteFileError(path, 2, "the frontmatter must be a block of keys, one `key: value` a line")
    body = text[closing.end() :].strip()
    if not body:
        line = text.count("\n", 0, closing.start()) + 1
        raise SuiteFileError(path, line, "there is no text below the frontmatter, which the judge would read")
    name, version = _word(frontmatter, "name"), _word(frontmatter, "version")
    _word(frontmatter, "description")
    scale = _word(frontmatter, "scale")
    if not _SEMVER.fullmatch(version):
        raise _wrong(frontmatter, "version", f"`{version}` is no version; write for example `1.0.0`")
    if scale not in SCALES:
        raise _wrong(frontmatter, "scale", f"`{scale}` is no scale of a rubric; write `pass-fail` or `1-5`")
    _check_goldens(frontmatter)
    return Rubric(
        text=body,
        name=name,
        version=version,
        scale_name=scale,
        verdicts=True,
        scale=linear(1, 5) if scale == "1-5" else None,
    )


def _word(frontmatter: YamlFile, key: str) -> str:
    value = _block(frontmatter).get(key)
    if isinstance(value, dict | list):
        raise _wrong(frontmatter, key, f"`{key}` must be text")
    text = "" if value is None else str(value).strip()
    if not text:
        raise _wrong(frontmatter, key, f"the frontmatter has no `{key}`")
    return text


def _check_goldens(frontmatter: YamlFile) -> None:
    """Examples of the rubric's author are not shown to the judge, but they must be whole."""
    goldens = _block(frontmatter).get("goldens")
    if goldens is None:
        return
    if not isinstance(goldens, list):
        raise _wrong(frontmatter, "goldens", "`goldens` must be a list of examples")
    for position, golden in enumerate(cast("list[object]", goldens)):
        line = frontmatter.line_of(["goldens", position])
        block = cast("Block", golden if isinstance(golden, Mapping) else {})
        missing = [key for key in ("name", "output", "expected") if not str(block.get(key) or "").strip()]
        if missing:
            raise SuiteFileError(frontmatter.path, line, f"the example has no `{missing[0]}`")
        if block["expected"] not in ("pass", "fail"):
            raise SuiteFileError(frontmatter.path, line, "`expected` of an example must be `pass` or `fail`")


def _block(frontmatter: YamlFile) -> Block:
    return cast("Block", frontmatter.value)


def _wrong(frontmatter: YamlFile, key: str, message: str) -> SuiteFileError:
    return SuiteFileError(frontmatter.path, frontmatter.line_of([key]), message)
