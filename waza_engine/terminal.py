"""Printing for people and for programs: the one place that writes to the standard streams.

Names, keys, answers of models and names of files come from suites, which may come from strangers. A terminal
obeys control characters (they set its title, clear it, write to the clipboard), it shows some text in another
order than it is read, and a build server obeys lines such as ``::error::…``. Here all of that is escaped
instead, an escape as backslash, x, 1b; colours, which other programs may print, are removed. JSON stays
exact: it has its own notation for such characters. Credentials are masked in all of it (``masking``).

Architecture invariant: light (the language server imports it), and nothing else in either package prints.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import IO, Any, Literal

from waza_engine.later_patterns import compiled_later

# Controls (C0, DEL, C1), marks that change the direction of text, invisible characters, the other line
# separators, halves of surrogate pairs, noncharacters. The joiners U+200C and U+200D stay: scripts and emoji
# need them.
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\ud800-\udfff"
)
# Colours carry no information, and text that is hidden by its colour becomes visible without it.
_COLOUR = compiled_later(r"\x1b\[[\d;:]*m")
# Python's representation of bytes in a file name that its encoding cannot decode.
_KEPT_BYTES = compiled_later("[\udc80-\udcff]+")
_NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
# The runners of GitHub take a command at the start of a line, after white space, and an older form of it, as
# Azure's and TeamCity's, anywhere. They may compare without the
# joiners, variation selectors and the like between the characters.
_IGNORED = r"\u034f\u17b4\u17b5\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f"
_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_BUILD_COMMAND = compiled_later(
    rf"((?:\A|[{_ENDS}])(?:[^\S{_ENDS}]|[{_IGNORED}])*):(?=[{_IGNORED}]*:)",
)
_OLDER_BUILD_COMMAND = compiled_later(rf"#(?=[{_IGNORED}]*#[a-z{_IGNORED}]*\[)", re.IGNORECASE)
Notation = Literal["json", "xml", "markdown", "commands"]
"""The format of a finished document."""
# The notation of a colon and a number sign in each format. In JSON no line begins with a colon.
_INSTEAD: Mapping[Notation, tuple[str, str]] = {
    "json": (":", r"\\u0023"),
    "xml": ("&#58;", "&#35;"),
    "markdown": (r"\\x3a", r"\\x23"),
    "commands": (":", "%23"),
}
_LOG_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def visible(text: str) -> str:
    """Return text on one line: control and invisible characters are escaped, line breaks too."""
    return _unseen("\t\n").sub(_written_out, _masked(text))


def visible_lines(text: str) -> str:
    """Return multi-line text in which everything is visible; line breaks and tabs stay."""
    return _unseen().sub(_written_out, _masked(text).replace("\r\n", "\n"))


def harmless_lines(text: str) -> str:
    """Return the same for text that is printed as it is: no line of it is a command to a build server."""
    return without_commands(visible_lines(text))


def without_commands(text: str) -> str:
    """Return lines none of which is a command to a build server; nothing else changes."""
    return _without_commands(text, *_INSTEAD["markdown"])


def harmless_document(content: bytes, notation: Notation) -> bytes:
    """Return an equivalent finished document without lines that are commands to a build server.

    For ``commands`` (``workflow_command``) only the older form is replaced.
    """
    if b"::" not in content and b"#" not in content:
        return content
    colon, sign = _INSTEAD[notation]
    return _without_commands(content.decode("utf-8", "surrogateescape"), colon, sign).encode(
        "utf-8", "surrogateescape"
    )


def workflow_command(name: str, properties: Mapping[str, str], message: str) -> str:
    """Return a command of GitHub's workflows on a line of its own; empty properties are left out.

    Everything in it is escaped by the rules of such commands, so that no text can be another one.
    """
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{name}{f' {given}' if given else ''}::{_data(message)}\n"


def say(line: str = "") -> None:
    """Print one line to standard output."""
    sys.stdout.write(f"{harmless_lines(visible(line))}\n")


def say_lines(text: str) -> None:
    """Print multi-line text, which ends with its own line break, to standard output."""
    sys.stdout.write(harmless_lines(text))


def complain(line: str) -> None:
    """Print one line to standard error."""
    sys.stderr.write(f"{harmless_lines(visible(line))}\n")


def complain_lines(text: str) -> None:
    """Print multi-line text, which ends with its own line break, to standard error."""
    sys.stderr.write(harmless_lines(text))


def printing_beside() -> contextlib.AbstractContextManager[object]:
    """Redirect prints of other code to standard error: they are not output of a command."""
    return contextlib.redirect_stdout(sys.stderr)


def say_json(value: Any) -> None:
    """Print a value as JSON for programs, in UTF-8 whatever the terminal takes.

    Raises ValueError for a number that is not finite: JSON has none.
    """
    say_document(json_text(value, indent=2).encode() + b"\n")


def say_document(content: bytes, notation: Notation = "json") -> None:
    """Write a finished document to standard output; its writer has made its characters harmless."""
    sys.stdout.flush()
    write_whole(sys.stdout.buffer, harmless_document(content, notation))
    sys.stdout.flush()


def write_whole(file: IO[bytes], content: bytes) -> None:
    """Write all of a content to a file without a buffer. Raises ``OSError``.

    Standard output is one with ``PYTHONUNBUFFERED``, which many images set.
    """
    while content:
        # A short write gives no reason; the next one does.
        written = file.write(content)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        content = content[written:]


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON which means the value without secrets, and which no terminal obeys.

    Raises ValueError for a number that is not finite: JSON has none.
    """
    from waza_engine.masking import masked_across, masked_json

    whole = masked_across(value)
    text = masked_json(as_written(json.dumps(whole, indent=indent, ensure_ascii=False, allow_nan=False)))
    # Outside of strings JSON has only line breaks and spaces, which stay.
    return _unseen().sub(lambda found: json.dumps(found[0])[1:-1], text)


def as_written(text: str) -> str:
    """Return text with the letters of paths whose bytes Python has kept, in an ASCII locale."""
    return _KEPT_BYTES.sub(_letters, text)


def written_out(letter: str) -> str:
    """Return a character as an escape, as in a string of Python or JSON."""
    number = ord(letter)
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


class LogFormatter(logging.Formatter):
    """Formats records so that no text in them looks like a record of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record; lines after its first are indented."""
        return harmless_lines(super().format(record)).rstrip("\n").replace("\n", "\n    ")


def log_to_standard_error(level: str, form: str = _LOG_FORM) -> None:
    """Write the log of this process to standard error, from a level on; ``$WAZA_LOG_LEVEL`` names another."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormatter(form))
    logging.basicConfig(handlers=[handler], level=os.environ.get("WAZA_LOG_LEVEL", level).upper())


def _without_commands(text: str, colon: str, sign: str) -> str:
    """Return text in which a colon and a number sign that begin a command are replaced."""
    if "::" in text or not text.isascii():
        text = _BUILD_COMMAND.sub(rf"\1{colon}", text)
    return _OLDER_BUILD_COMMAND.sub(sign, text) if "#" in text else text


def _data(text: str) -> str:
    escaped = visible_lines(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return _without_commands(escaped, ":", "%23")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")


@cache
def _unseen(others: str = "") -> re.Pattern[str]:
    """Return the pattern of an invisible character, or of another; compiled with the first text."""
    return re.compile(f"[{others}{_UNSEEN}]")


def _masked(text: str) -> str:
    # Import with the first text: a server that starts prints nothing.
    from waza_engine.masking import masked

    # Colours within a credential would keep it from being recognized.
    return masked(as_written(_COLOUR.sub("", text) if "\x1b" in text else text))


def _letters(found: re.Match[str]) -> str:
    try:
        return found[0].encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeDecodeError:
        return found[0]


def _written_out(found: re.Match[str]) -> str:
    return _NAMED.get(found[0]) or written_out(found[0])
