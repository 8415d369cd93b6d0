"""What an addition is: new files, and lines in the tables of files that are there."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that are put behind a line of a file that occurs there once."""

    file: str
    behind: str
    text: str


@dataclass(frozen=True, slots=True)
class Addition:
    """Files by their path in the repository, and lines for others."""

    files: Mapping[str, str]
    lines: tuple[Lines, ...]

    @property
    def touched(self) -> set[str]:
        """The files that are new or changed."""
        return {*self.files, *(lines.file for lines in self.lines)}

    def add_to(self, repository: Path) -> None:
        """Write the files and the lines into a copy of the repository."""
        for file, text in self.files.items():
            path = repository / file
            assert not path.exists(), f"{file} is there already"
            path.write_text(text, "utf-8")
        for lines in self.lines:
            path = repository / lines.file
            before = path.read_text("utf-8")
            assert before.count(f"{lines.behind}\n") == 1, f"{lines.behind} is not one line of {lines.file}"
            path.write_text(before.replace(f"{lines.behind}\n", f"{lines.behind}\n{lines.text}"), "utf-8")
