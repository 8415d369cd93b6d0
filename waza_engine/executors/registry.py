"""The executors by name. Each is imported on first use: an agent's library costs start-up time.

``EXECUTORS`` of ``spec/executors.py`` lists them; each is in the file of its name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TypeVar, cast

from waza_engine.executors.base import Executor, ExecutorError, ExecutorSettings
from waza_engine.executors.packages import installing, missing_packages
from waza_engine.peers.proxies import ask_this_machine_directly
from waza_engine.spec.executors import EXECUTORS

ClassT = TypeVar("ClassT", bound=type[Executor])
_registered: dict[str, Callable[[ExecutorSettings], Executor]] = {}


def register(executor: ClassT) -> ClassT:
    """Class decorator: make an executor known by its ``name``, one of ``EXECUTORS``.

    It is made of its settings alone, and raises ``ExecutorError`` when it is not to be had here.
    """
    _registered[executor.name] = cast("Callable[[ExecutorSettings], Executor]", executor)
    return executor


def create_executor(name: str, settings: ExecutorSettings) -> Executor:
    """Return a new executor. Raises ``ExecutorError`` for a name that is unknown or not to be had here."""
    if name not in EXECUTORS:
        known = ", ".join(f"`{known}`" for known in EXECUTORS)
        wrong = f"`{name}` is not an executor" if name else "`executor` is empty"
        raise ExecutorError(f"{wrong}; write one of {known}")
    if EXECUTORS[name].has_model and (missing := missing_packages()):
        message = f"the executor `{name}` needs packages that are not installed"
        raise ExecutorError(f"{message}; `{installing(missing)}` adds them", remediation="install them")
    ask_this_machine_directly()
    try:
        importlib.import_module(f"waza_engine.executors.{name.replace('-', '_')}")
    except ImportError as error:
        raise ExecutorError(f"the executor `{name}` cannot be loaded: {error}") from None
    return _registered[name](settings)
