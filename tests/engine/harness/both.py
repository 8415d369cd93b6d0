"""Carry out a scenario with our program, and look up what agent-eval-harness answered."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.command_line import harness
from tests.engine.harness.record_theirs import RECORDED
from tests.engine.harness.scenarios import SCENARIOS


@dataclass(frozen=True)
class Answer:
    """What a program answered."""

    exit_code: int
    output: str
    errors: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The output as JSON Lines."""
        return [json.loads(line) for line in self.output.splitlines()]

    @property
    def document(self) -> dict[str, Any]:
        """The output as one JSON object."""
        return json.loads(self.output)


@cache
def recorded() -> dict[str, Any]:
    """Return the answers of agent-eval-harness."""
    return json.loads(RECORDED.read_text("utf-8"))


def theirs(name: str) -> Answer:
    """Return what agent-eval-harness answered in a scenario."""
    found = recorded()["scenarios"][name]
    return Answer(found["exit_code"], found["output"], "\n".join(found["errors"]))


def ours(name: str, folder: Path) -> Answer:
    """Return what our program answers in a scenario."""
    scenario = SCENARIOS[name]
    scenario.write(folder)
    ended = harness(*scenario.arguments(folder), cwd=folder)
    output = (folder / scenario.output).read_text("utf-8") if scenario.output else ended.stdout
    return Answer(ended.returncode, output, ended.stderr)
