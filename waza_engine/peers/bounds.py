"""The size limit for messages of a peer: a model provider, an MCP server, the program of an agent. Light."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, cast

MOST_BYTES = 64_000_000
"""Decoded bytes that one peer may send in one turn of a conversation."""
LONGEST_MESSAGE_BYTES = 16_000_000
"""The most bytes of one message: a line, an event of a stream, or a body that is not a stream."""


class PeerError(Exception):
    """A message of a peer is rejected; the error completes a sentence that begins with the peer's name."""


class Intake:
    """Counts a peer's bytes. ``refused`` says why nothing more is read, "" while reading is allowed.

    ``on_refusal`` is called then, in the thread that reads: a library may wait for more of the rejected data.
    """

    def __init__(self, most: int | None = None) -> None:
        self.on_refusal: Callable[[], object] = lambda: None
        self._most = MOST_BYTES if most is None else most
        self._received = 0
        self.refused = ""

    def take(self, count: int) -> None:
        """Count bytes that have arrived. Raises ``PeerError`` when they are too many."""
        self._received += count
        if self._received > self._most:
            self.refuse(f"sent more than {_in_megabytes(self._most)}; the rest was not read")

    def refuse(self, why: str) -> NoReturn:
        """Read nothing more. Raises ``PeerError``."""
        self.refused = self.refused or why
        self.on_refusal()
        raise PeerError(why)


class LineReader:
    """Splits a peer's output into lines, none of which may be longer than a message."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._longest = LONGEST_MESSAGE_BYTES
        self._begun = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in a chunk, without their ends. Raises ``PeerError``."""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for part in ended:
            self._add(part)
            lines.append(bytes(self._begun))
            self._begun.clear()
        self._add(rest)
        return lines

    def _add(self, part: bytes) -> None:
        self._begun += part
        if len(self._begun) > self._longest:
            self._intake.refuse(
                f"sent a message of more than {_in_megabytes(self._longest)}; the rest was not read"
            )


def refusal_in(error: BaseException | None) -> str:
    """Return why a message was rejected, when that is the cause of an error, "" otherwise."""
    while error is not None and not isinstance(error, PeerError):
        if isinstance(error, BaseExceptionGroup):
            group = cast("BaseExceptionGroup[BaseException]", error)
            return next((found for inner in group.exceptions if (found := refusal_in(inner))), "")
        error = error.__cause__ or error.__context__
    return "" if error is None else str(error)


def _in_megabytes(count: int) -> str:
    return f"{count / 1_000_000:g} MB"
