"""The environment of programs that an agent starts where some programs are mocked."""

from __future__ import annotations

import os
from collections.abc import Mapping

from waza_engine.executors.base import MockedCommands
from waza_engine.executors.command_shim import SESSION_VARIABLE


def environment_with(commands: MockedCommands | None, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to set besides those inherited, so that mocked programs are found first."""
    if commands is None:
        return {}
    name = next((name for name in inherited if name.upper() == "PATH"), "PATH")
    known = [inherited[name]] if inherited.get(name) else []
    changed = {name: os.pathsep.join([str(commands.folder), *known])}
    return changed if commands.session is None else {**changed, SESSION_VARIABLE: str(commands.session)}
