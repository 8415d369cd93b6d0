"""The Python API of the first version, for graders that were written for it.

``from waza.graders.base import Grader, GraderContext, GraderRegistry, GraderType`` and
``from waza.schemas.results import GraderResult`` are answered while no package ``waza`` is installed.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from pydantic import ConfigDict

import waza_engine.graders.base as today
from waza_engine.graders.base import GraderConfig
from waza_engine.graders.registry import register

_MODULES = ("waza", "waza.graders", "waza.graders.base", "waza.schemas", "waza.schemas.results")
_DEPRECATION = (
    "its package uses the Python API of the first version. Import `Grader`, `GradingContext` and `Verdict` "
    "from `waza_engine.graders.base` and `register` from `waza_engine.graders.registry` instead."
)


def answer_first_version() -> None:
    """Make the modules of the first version importable unless a package has their name."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        # Append it, so that an installed `waza` takes precedence.
        sys.meta_path.append(_Finder())


class GraderType(StrEnum):
    """The type of a grader."""

    CODE = "code"
    LLM = "llm"
    HUMAN = "human"


@dataclass(frozen=True, slots=True)
class GraderContext:
    """A trial as a grader sees it."""

    output: str = ""
    outcome: Mapping[str, Any] = field(default_factory=dict[str, Any])
    transcript: Sequence[Mapping[str, Any]] = ()
    tool_calls: Sequence[Mapping[str, Any]] = ()
    errors: Sequence[str] = ()
    duration_ms: int = 0
    task: Mapping[str, Any] = field(default_factory=dict[str, Any])
    workspace: str = ""


@dataclass(slots=True)
class GraderResult:
    """A grader's verdict on a trial."""

    name: str = ""
    type: str = ""
    score: float = 0.0
    passed: bool = False
    message: str = ""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    duration_ms: int = 0


class Grader(ABC):
    """A grader of the first version: made of a name and its options."""

    def __init__(self, name: str = "", config: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.config = dict(config or {})

    @property
    def grader_type(self) -> GraderType:
        """Return the type of the grader."""
        return GraderType.CODE

    @abstractmethod
    def grade(self, context: GraderContext) -> GraderResult:
        """Grade one trial."""


GraderT = TypeVar("GraderT", bound=type[Grader])


class GraderRegistry:
    """The registry for graders of the first version."""

    @staticmethod
    def register(name: str) -> Callable[[GraderT], GraderT]:
        """Class decorator: make a grader type known by a name."""

        def registered(written: GraderT) -> GraderT:
            members = {
                "type": name,
                "title": name.replace("_", " ").capitalize(),
                "written": written,
                "example": f"- type: {name}\n  name: {name}\n",
                "deprecation": _DEPRECATION,
                "__doc__": (written.__doc__ or "").strip(),
                "__module__": written.__module__,
            }
            register(type(written.__name__, (_Adapted,), members))
            return written

        return registered


class AnyConfig(GraderConfig):
    """Options without a schema."""

    model_config = ConfigDict(extra="allow", frozen=True)
    unknown_keys: ClassVar = "error"


class _Adapted(today.Grader[AnyConfig]):
    """A grader of the first version as one of today."""

    config_model = AnyConfig
    written: ClassVar[type[Grader]]

    def grade(self, context: today.GradingContext) -> today.Verdict:
        grader = self.written(self.name, self.config.model_extra)
        calls = [
            {"name": call.name, "arguments": dict(call.arguments), "success": call.success}
            for call in context.tool_calls or ()
        ]
        found = grader.grade(
            GraderContext(
                output=context.output,
                transcript=context.transcript,
                tool_calls=calls,
                duration_ms=context.duration_ms,
                task={"id": context.task_id, "name": context.task_name, "prompt": context.prompt},
                workspace=str(context.workspace or ""),
            )
        )
        return today.Verdict(found.score, found.passed, found.message, details=found.details)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports `waza.graders.base` and the like, modules of the first version, from this version."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module of the first version, None for any other or if a real `waza` exists."""
        root = sys.modules.get("waza")
        ours = root is None or getattr(root, "__loader__", None) is self
        if fullname not in _MODULES or not ours:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module in."""
        for each in (Grader, GraderContext, GraderRegistry, GraderResult, GraderType):
            setattr(module, each.__name__, each)
