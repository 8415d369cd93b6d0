"""``headless``: an agent of an adapter as a server, JSON-RPC 2.0 over lines, as agent-eval-harness has it.

| method | parameters | answer |
|---|---|---|
| `initialize` | `protocolVersion`: 1 | the agent's name, and whether sessions can be loaded |
| `session/new` | `cwd` | `sessionId` |
| `session/load` | `sessionId` of this process, or the agent's own; `cwd` | `sessionId` |
| `session/prompt` | `sessionId`, `prompt`: blocks of text | `content`: the answer |
| `session/cancel` (notification) | `sessionId` | – |

While the agent works, ``session/update`` notifications have its messages, thoughts, plans and tool calls.
Prompts of several sessions run at the same time, those of one session one after the other.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from waza_engine.executors.adapter.output_lines import Update, event_of, read_event
from waza_engine.executors.executor import ExecutionRequest, ExecutorError
from waza_engine.harness.agent import DEFAULT_MILLISECONDS, Agent
from waza_engine.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from waza_engine.json_rpc_lines import LineConnection
from waza_engine.masking import DelayedMaskedStream
from waza_engine.results.json_values import Block, Json, items_of, text_of
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.terminal import complain
from waza_engine.usable_text import why_unusable

PROTOCOL_VERSION = 1
_MOST_AT_WORK = 16
_ENDING_SECONDS = 5.0
_BLOCK = '`{"type": "text", "text": "…"}`'


@dataclass(slots=True)
class _Session:
    """A session: the agent's directory, and its own name of the conversation, None before the first turn.

    ``active`` is the prompt that the agent works on, None between prompts.
    """

    id: str
    cwd: Path
    conversation: str | None = None
    active: RunCancellation | None = None
    at_work: threading.Lock = field(default_factory=threading.Lock)


class Headless(LineConnection):
    """The connection of a client. ``verbose`` prints the lines of the agent on standard error."""

    def __init__(self, wire: IO[bytes], agent: Agent, *, verbose: bool = False) -> None:
        self._agent = agent
        self._verbose = verbose
        self._sessions: dict[str, _Session] = {}
        methods = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": self._load,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel,
        }
        super().__init__(wire, methods, workers=_MOST_AT_WORK)

    def end(self) -> None:
        """Cancel every prompt, end the agents, and wait until they are answered."""
        for session in list(self._sessions.values()):
            _cancel(session)
        self._agent.close()
        deadline = time.monotonic() + _ENDING_SECONDS
        for session in list(self._sessions.values()):
            session.at_work.acquire(timeout=max(0.0, deadline - time.monotonic()))

    def _initialize(self, params: Any) -> Json:
        version = _object(params).get("protocolVersion")
        if version != PROTOCOL_VERSION:
            message = f"`protocolVersion` must be {PROTOCOL_VERSION}, and it is {version!r}."
            raise RpcError(message, INTERNAL_ERROR)
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentInfo": {"name": self._agent.adapter.name, "version": "1.0.0"},
            "agentCapabilities": {
                "loadSession": self._agent.adapter.resume is not None,
                "promptCapabilities": {"image": False},
            },
        }

    def _new(self, params: Any) -> Json:
        session = _Session(f"sess_{uuid.uuid4()}", _directory(params))
        self._sessions[session.id] = session
        return {"sessionId": session.id}

    def _load(self, params: Any) -> Json:
        identifier = text_of(_object(params).get("sessionId"))
        if identifier not in self._sessions:
            # The agent's own name of a conversation outlives this process; ours do not.
            if self._agent.adapter.resume is None or not identifier or identifier.startswith("sess_"):
                raise _unknown(identifier)
            self._sessions[identifier] = _Session(identifier, _directory(params), identifier)
        return {"sessionId": identifier}

    def _cancel(self, params: Any) -> None:
        session = self._sessions.get(text_of(_object(params).get("sessionId")))
        if session is not None:
            _cancel(session)

    def _prompt(self, params: Any) -> Callable[[], Json]:
        asked = _object(params)
        session = self._sessions.get(identifier := text_of(asked.get("sessionId")))
        if session is None:
            raise _unknown(identifier)
        prompt = _prompt_in(asked.get("prompt"))
        if not session.at_work.acquire(blocking=False):
            raise RpcError(f"The agent still works on a prompt of {session.id}.", INTERNAL_ERROR)
        # Until a thread begins with it, a prompt can be cancelled, too.
        session.active = RunCancellation()
        return lambda: self._answer(session, prompt, session.active or RunCancellation())

    def _answer(self, session: _Session, prompt: str, cancellation: RunCancellation) -> Json:
        kinds: list[str] = []
        streams = {"message": DelayedMaskedStream(), "thought": DelayedMaskedStream()}

        def heard(line: str) -> None:
            if self._verbose:
                complain(line)
            event = event_of(line)
            for update in () if event is None else read_event(self._agent.adapter, event).updates:
                kinds.append(update.kind)
                if (stream := streams.get(update.kind)) is None:
                    self._tell(session, _update(update))
                elif text := stream.masked(update.content or ""):
                    self._tell(session, _chunk(update.kind, text))

        milliseconds = self._agent.milliseconds or DEFAULT_MILLISECONDS
        request = ExecutionRequest(
            prompt,
            session.cwd,
            timeout_seconds=milliseconds / 1000,
            session=session.conversation,
            on_line=heard,
        )
        try:
            response = self._agent.execute(request, cancellation)
            for kind, stream in streams.items():
                if text := stream.rest():
                    self._tell(session, _chunk(kind, text))
            if response.error:
                why = f"{response.error[:1].upper()}{response.error[1:]}."
                raise RpcError(why, INTERNAL_ERROR, {"output": response.output})
        except ExecutorError as error:
            raise RpcError(f"{error}.", INTERNAL_ERROR) from None
        finally:
            session.active = None
            session.at_work.release()
        session.conversation = response.session
        content = _text(response.output)
        if response.output and "message" not in kinds:
            self._tell(session, {"sessionUpdate": "agent_message_chunk", "content": content})
        return {"content": [content]}

    def _tell(self, session: _Session, update: Json) -> None:
        self.notify("session/update", {"sessionId": session.id, "update": update})


def _cancel(session: _Session) -> None:
    active = session.active
    if active is not None:
        active.request()


def _update(update: Update) -> Json:
    if update.kind == "plan":
        return {"sessionUpdate": "agent_plan", "entries": update.entries or []}
    call = {"name": update.tool, "status": update.state}
    return {"sessionUpdate": "agent_tool_call", "toolCall": call}


def _chunk(kind: str, text: str) -> Json:
    return {"sessionUpdate": f"agent_{kind}_chunk", "content": _text(text)}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _object(params: Any) -> Block:
    if not isinstance(params, Mapping):
        raise RpcError("`params` must be an object.", INVALID_PARAMS)
    if reason := why_unusable(cast("Block", params)):
        raise RpcError(reason, INVALID_PARAMS)
    return cast("Block", params)


def _prompt_in(blocks: object) -> str:
    """Return the prompt in blocks of text. An empty one is refused, because asking may cost money."""
    texts: list[str] = []
    for block in items_of(blocks):
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case _:
                raise RpcError(f"Each block of `prompt` must be {_BLOCK}.", INVALID_PARAMS)
    if not texts:
        raise RpcError(f"`prompt` must be a list of blocks such as {_BLOCK}.", INVALID_PARAMS)
    prompt = "\n".join(texts)
    if not prompt.strip():
        raise RpcError("`prompt` is empty; write a question or a task in it.", INVALID_PARAMS)
    return prompt


def _directory(params: Any) -> Path:
    """Return the directory of a session, by default that in which the server was started."""
    written = _object(params).get("cwd")
    if not isinstance(written, str | None):
        raise RpcError("`cwd` must be a string that names a directory.", INVALID_PARAMS)
    folder = Path(written or ".")
    try:
        is_there = folder.is_dir()
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        raise RpcError(f"`cwd` must name a directory; {written} is not one.", INVALID_PARAMS)
    return folder.absolute()


def _unknown(identifier: str) -> RpcError:
    return RpcError(f"There is no session `{identifier}`; `session/new` begins one.", INVALID_PARAMS)
