"""No line that is printed is a command to a build server, whatever a suite or a model says."""

import io
import json
import logging
import re
import sys
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.table import Table

from waza_engine.commands.printer import Printer, StandardOutput
from waza_engine.terminal import (
    LogFormatter,
    complain,
    complain_lines,
    harmless_document,
    say,
    say_document,
    say_json,
    say_lines,
    workflow_command,
)
from waza_language_server.check import Finding
from waza_language_server.check_reports import github_annotations

COMMANDS = [
    "::error::forged",
    "  ::error file=a::forged",
    "\t\u00a0\u3000::set-output name=a::b",
    "\u200d:\u200d:error::forged",
    "ok\n::error::forged",
    "ok\r\n  ::error::forged",
    "ok\r::error::forged",
    "ok\u2028::error::forged",
    "ok\x85::error::forged",
    "ok\x0b::error::forged",
    "##[error]forged",
    "ok ##[add-mask]forged",
    "##vso[task.setvariable variable=a]b",
    "ok ##VSO[task.complete]",
    "ok #\u200c#v\u200dso[task.complete]",
    "\ufe0f:\u034f:error::forged",
    "ok #\ufe0f#v\u180bso[task.complete]",
    "##teamcity[message text='forged']",
]
_JOINERS = str.maketrans("", "", "\u034f\u180b\u200c\u200d\ufe0f")


def obeyed(written: str) -> list[str]:
    """Return the lines that a runner would obey: it splits at any line end, trims, and ignores joiners."""
    lines = [
        line.translate(_JOINERS).strip() for line in re.split(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", written)
    ]
    return [line for line in lines if line.startswith("::") or re.search(r"##[a-z]*\[", line, re.IGNORECASE)]


def test_the_check_of_these_tests_sees_every_command() -> None:
    assert [text for text in COMMANDS if not obeyed(text)] == []


WRITERS: list[Callable[[str], object]] = [
    say,
    say_lines,
    complain,
    complain_lines,
    lambda text: say_json({text: [text]}),
    lambda text: StandardOutput(lambda: None).say_json({text: [text]}, 2),
    lambda text: StandardOutput(lambda: None).say_json(text),
    lambda text: Printer().line(text),
    lambda text: Printer().lines(text, "  "),
    lambda text: Printer().line((text[:1], "red"), text[1:]),
    lambda text: Printer(errors=True).line(text),
    lambda text: say_document(text.encode(), "markdown"),
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("text", COMMANDS, ids=ascii)
def test_nothing_that_is_printed_is_obeyed(
    write: Callable[[str], object], text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    write(text)
    sys.stdout.flush()
    written = capfd.readouterr()
    assert written.out + written.err
    assert obeyed(written.out + written.err) == []


@pytest.mark.parametrize("before", range(150, 230, 7))
def test_a_cell_of_a_table_that_goes_on_in_another_line_is_not_obeyed(before: int) -> None:
    output = io.StringIO()
    table = Table(box=None, show_header=False)
    Printer(output).table(table, [("x" * before + " ::error::forged and more words of this cell",)])
    assert "error" in output.getvalue()
    assert obeyed(output.getvalue()) == []


@pytest.mark.parametrize("text", COMMANDS, ids=ascii)
def test_json_means_the_same(text: str) -> None:
    value = {text: [text, {"a": f"\\{text}\\"}], "##[": "##vso["}
    for indent in (None, 2):
        content = json.dumps(value, ensure_ascii=False, indent=indent).encode()
        written = harmless_document(content, "json").decode()
        assert json.loads(written) == value
        assert not re.search(r"##[a-z]*\[", written, re.IGNORECASE)


@pytest.mark.parametrize("text", [text for text in COMMANDS if text.isprintable() or "\n" in text], ids=ascii)
def test_xml_means_the_same(text: str) -> None:
    element = ElementTree.Element("failure", message=text)
    element.text = f"\n{text}\n&"
    written = harmless_document(ElementTree.tostring(element, "utf-8"), "xml")
    read = ElementTree.fromstring(written)
    before = ElementTree.fromstring(ElementTree.tostring(element, "utf-8"))
    assert (read.get("message"), read.text) == (before.get("message"), before.text)
    assert obeyed(written.decode()) == []


@pytest.mark.parametrize("text", COMMANDS, ids=ascii)
def test_a_command_of_our_own_has_one_line_and_says_nothing_else(text: str) -> None:
    told = workflow_command("error", {"file": text, "title": text, "line": ""}, text)
    assert told.count("\n") == 1
    assert told.endswith("\n")
    assert not obeyed(told.removeprefix("::error "))
    properties, _, data = told.removeprefix("::error ").partition("::")
    assert [one.partition("=")[0] for one in properties.split(",")] == ["file", "title"]
    assert ":" not in properties
    assert data


def test_what_our_own_command_says_is_read_as_it_was_written() -> None:
    told = workflow_command("warning", {"title": "100%: a, b"}, "50%25\nmore: a, b")
    assert told == "::warning title=100%25%3A a%2C b::50%2525%0Amore: a, b\n"


@pytest.mark.parametrize("text", COMMANDS, ids=ascii)
def test_annotations_of_a_check_are_commands_alone(text: str) -> None:
    finding = Finding(path=text, start=(0, 0), end=(0, 1), code="yaml-syntax", severity="error", message=text)
    told = github_annotations([finding])
    assert (told.count("\n"), told.startswith("::error file=")) == (1, True)
    assert not obeyed(told.removeprefix("::error "))


@pytest.mark.parametrize("text", COMMANDS, ids=ascii)
def test_a_log_holds_no_command(text: str) -> None:
    record: Any = logging.LogRecord("a", logging.WARNING, "a", 1, text, None, None)
    assert obeyed(LogFormatter("%(message)s").format(record)) == []


def test_a_document_is_written_whole_where_each_write_stores_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unbuffered(io.RawIOBase):
        stored = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            part = bytes(data)[:7]
            self.stored += part
            return len(part)

    def show_by_printer(value: object) -> None:
        StandardOutput(lambda: None).say_json(value)

    for show in (say_json, show_by_printer):
        raw = Unbuffered()
        stream = io.TextIOWrapper(raw, "utf-8", write_through=True)  # type: ignore[arg-type]
        monkeypatch.setattr(sys, "stdout", stream)
        show({"tasks": ["a" * 100]})
        assert json.loads(raw.stored) == {"tasks": ["a" * 100]}
