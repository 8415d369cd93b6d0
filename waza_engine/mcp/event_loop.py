"""An event loop in a thread of its own, for libraries that are asynchronous."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")
_CLOSE_SECONDS = 1.0


class LoopThread:
    """Runs coroutines for other threads. The thread starts with the first one and ends with ``close``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, coroutine: Coroutine[Any, Any, ResultT]) -> Future[ResultT]:
        """Start a coroutine; to cancel the future is to cancel the coroutine.

        After ``close`` the future is cancelled already.
        """
        with self._lock:
            if not self._closed:
                return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())
        coroutine.close()
        refused: Future[ResultT] = Future()
        refused.cancel()
        return refused

    def close(self) -> None:
        """Cancel active calls and end the thread; can be called twice, from any thread but its own."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_SECONDS)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=_run, args=(self._loop,), name=f"executor {self._name}", daemon=True
            )
            self._thread.start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        with contextlib.suppress(RuntimeError):
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
