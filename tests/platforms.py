"""Modules that take this system for another one: their `os` and `sys` answer as there."""

import importlib.util
import ntpath
import os
import sys
from types import ModuleType
from typing import Any

import pytest


class _Pretending:
    """A module of Python with some other answers."""

    def __init__(self, real: ModuleType, **answers: Any) -> None:
        self._real = real
        self.__dict__.update(answers)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def pretend(monkeypatch: pytest.MonkeyPatch, module: ModuleType, platform: str, **of_os: Any) -> None:
    """Let a module believe that it runs on ``win32`` or ``darwin``; ``of_os`` are more answers of `os`."""
    windows = {"name": "nt", "sep": "\\", "pathsep": ";", "path": ntpath} if platform == "win32" else {}
    if hasattr(module, "os"):
        monkeypatch.setattr(module, "os", _Pretending(os, **(windows | of_os)))
    if hasattr(module, "sys"):
        monkeypatch.setattr(module, "sys", _Pretending(sys, platform=platform))


def loaded_as_on_windows(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> Any:
    """Return a module that was loaded anew while the separator of folders was a backslash."""
    spec = importlib.util.spec_from_file_location(f"{module.__name__}_of_windows", str(module.__file__))
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, spec.name, fresh)
        patched.setattr(os, "sep", "\\")
        spec.loader.exec_module(fresh)
    return fresh
