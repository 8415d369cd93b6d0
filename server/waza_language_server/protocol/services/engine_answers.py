"""Answers that only the engine can give, requested in the background.

Nothing waits for an answer: a feature is drawn without it, and again when it has arrived. Nothing is
requested in an untrusted workspace: its settings may name the interpreter of the engine.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

from waza_language_server.engine.process import EngineError

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

KeyT = TypeVar("KeyT", bound=Hashable)
FoundT = TypeVar("FoundT")

log = logging.getLogger(__name__)


class EngineAnswers(Generic[KeyT, FoundT]):
    """The last answers, ``most`` of them; ``about`` precedes the key in the log if the engine fails.

    ``came`` is called with the key, the answer before and the new one; None is no answer.
    """

    def __init__(
        self,
        ls: WazaServer,
        about: str,
        came: Callable[[KeyT, FoundT | None, FoundT | None], None] = lambda _key, _before, _now: None,
        *,
        most: int = 200,
    ) -> None:
        self._ls = ls
        self._about = about
        self._came = came
        self._most = most
        self._known: dict[KeyT, FoundT | None] = {}
        self._fresh: dict[KeyT, object] = {}
        self._asked: set[KeyT] = set()

    def __bool__(self) -> bool:
        """Return whether anything was ever requested."""
        return bool(self._known or self._asked)

    def last(self, key: KeyT) -> FoundT | None:
        """Return the last answer, be it out of date."""
        return self._known.get(key)

    def fresh(self, key: KeyT) -> FoundT | None:
        """Return the last answer if nothing has changed since it was requested."""
        return self._known.get(key) if key in self._fresh else None

    def is_asked(self, key: KeyT) -> bool:
        """Return whether an answer is on its way."""
        return key in self._asked

    def is_wanted(self, key: KeyT, state: object = None) -> bool:
        """Return whether to ask: ``state`` has changed since the last request."""
        is_known = key in self._fresh and self._fresh[key] == state
        return not is_known and key not in self._asked and self._ls.trusted and not self._ls.is_closing

    def want(self, key: KeyT, ask: Callable[[], Awaitable[FoundT | None]], state: object = None) -> None:
        """Ask in the background if the answer is not known, or is one to another ``state``."""
        if self.is_wanted(key, state):
            self._asked.add(key)
            self._ls.in_background(self._ask(key, ask, state))

    def forget(self) -> None:
        """Mark all answers as outdated: they are requested again at their next use."""
        self._fresh.clear()

    async def _ask(self, key: KeyT, ask: Callable[[], Awaitable[FoundT | None]], state: object) -> None:
        # Before the question: what changes from here on makes the answer an old one.
        self._fresh[key] = state
        found: FoundT | None = None
        try:
            found = await ask()
        except EngineError as error:
            log.info("%s %s is not known: %s", self._about, key, error)
        finally:
            self._asked.discard(key)
        before = self._known.get(key)
        if len(self._known) >= self._most:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._fresh.pop(oldest, None)
        self._known[key] = found
        self._came(key, before, found)
