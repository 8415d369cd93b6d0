"""An answer of an OpenAI-compatible server, which comes whole or in pieces, as far as it is of use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from waza_engine.executors.chat.clean_text import clean_escapes
from waza_engine.peers.bounds import PeerError

MOST_CALLS = 1_000
"""The most tool calls and choices of one answer: each takes fifty times the memory of its text."""


class CalledFunction(BaseModel):
    """The function of a tool call; some servers send the arguments as an object instead of a JSON string."""

    model_config = ConfigDict(extra="allow")

    name: str = ""
    arguments: str | dict[str, Any] | None = None


class RequestedCall(BaseModel):
    """A tool call of the model. Extra fields of the server must be sent back to it, so they are kept."""

    model_config = ConfigDict(extra="allow")

    id: str | None = None
    function: CalledFunction


class Spent(BaseModel):
    """The tokens of one request; cached ones are among those of the prompt."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None

    def counts(self) -> dict[str, int]:
        """Return the tokens by the names of ``Usage``."""
        details = self.prompt_tokens_details
        return {
            "input_tokens": self.prompt_tokens or 0,
            "output_tokens": self.completion_tokens or 0,
            "cache_read_tokens": (details.cached_tokens or 0) if details else 0,
        }


class Answer:
    """An answer, complete or in progress; the text so far can be read from any thread.

    ``complete`` is true when all has arrived. ``usage`` is None when the server reports none.
    """

    def __init__(self) -> None:
        self.start_again()

    def start_again(self) -> None:
        """Drop the partial text of an answer that broke off."""
        self.complete = False
        self.calls: list[RequestedCall] = []
        self.finish_reason = ""
        self.usage: Spent | None = None
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._by_index: dict[int, RequestedCall] = {}

    @property
    def text(self) -> str:
        """Return the text, or that of a refusal."""
        return "".join(self._texts) or "".join(self._refusals)

    @property
    def refusal(self) -> str:
        """Return the text in the field for refusals."""
        return "".join(self._refusals)

    @property
    def has_choice(self) -> bool:
        """Return whether the server has answered at all, even with nothing."""
        return bool(self.finish_reason or self.calls or self.text)

    def take_whole(self, document: str) -> None:
        """Read a completion. Raises ``ValueError`` or ``RecursionError`` if it is not one."""
        completion = _Completion.model_validate_json(clean_escapes(document))
        self.usage = completion.usage
        for choice in completion.choices[:1]:
            self._say(choice.message)
            self.calls = choice.message.tool_calls or []
            self.finish_reason = choice.finish_reason or "stop"
        self.complete = True

    def take_piece(self, document: str) -> None:
        """Read the data of one event of a stream.

        Raises ``ValueError`` or ``RecursionError`` when it is not a chunk of a completion, and ``PeerError``
        for too many tool calls.
        """
        chunk = _Chunk.model_validate_json(clean_escapes(document))
        self.usage = chunk.usage or self.usage
        for choice in chunk.choices[:1]:
            self.finish_reason = choice.finish_reason or self.finish_reason
            if choice.delta is not None:
                self._say(choice.delta)
                for piece in choice.delta.tool_calls or ():
                    self._add_to_call(piece)

    def _say(self, message: _Spoken) -> None:
        if text := _text(message.content):
            self._texts.append(text)
        if message.refusal:
            self._refusals.append(message.refusal)

    def _add_to_call(self, piece: _CallPiece) -> None:
        """Add to the call with the same index.

        Some servers give the same index, or none, to all calls; a name begins a new one unless the id says
        that it is the same.
        """
        known = self._by_index.get(piece.index)
        if known is None or (piece.function.name and not _is_same(known, piece)):
            given = piece.model_dump(exclude={"index"}, exclude_none=True)
            if len(self.calls) == MOST_CALLS:
                raise PeerError(f"asked for more than {MOST_CALLS:,} tool calls in one answer")
            self._by_index[piece.index] = RequestedCall.model_validate(given)
            self.calls.append(self._by_index[piece.index])
            return
        function, more = known.function, piece.function.arguments
        if isinstance(function.arguments, str) and isinstance(more, str):
            function.arguments += more
        else:
            function.arguments = more or function.arguments


class _PromptDetails(BaseModel):
    cached_tokens: int | None = None


class _Spoken(BaseModel):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None


class _Message(_Spoken):
    tool_calls: Annotated[list[RequestedCall], Field(max_length=MOST_CALLS)] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(max_length=MOST_CALLS)]
    usage: Spent | None = None


class _CallPiece(BaseModel):
    model_config = ConfigDict(extra="allow")

    index: int = 0
    id: str | None = None
    function: CalledFunction = CalledFunction()


class _Delta(_Spoken):
    tool_calls: Annotated[list[_CallPiece], Field(max_length=MOST_CALLS)] | None = None


class _ChoicePiece(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(BaseModel):
    choices: Annotated[list[_ChoicePiece], Field(max_length=MOST_CALLS)] = []
    usage: Spent | None = None


def _is_same(known: RequestedCall, piece: _CallPiece) -> bool:
    return piece.id == known.id if piece.id else known.id is not None


def _text(content: str | Sequence[dict[str, Any]] | None) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content or () if part.get("type") == "text")
