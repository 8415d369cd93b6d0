"""Whatever the suite says and the agent did: a grader gives a verdict or a ``GraderError``, nothing else."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.engine.graders.grading import folder
from tests.engine.spec.schema_reading import schema_of
from tests.engine.spec.specimens import variants
from tests.engine.spec.test_parity import accepts
from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.registry import create, grader_types
from waza_engine.vocabulary import SkillInvocation, ToolCall, Usage

# Programs and assertions run processes; their own tests cover what they may meet.
TYPES = [name for name in grader_types() if name not in {"code", "program", "script"}]

OUTPUTS = ["", "text", "\ud83c", "\x00", '{"a": 1}', "[" * 10_000, "É\u0130\u03a3", "x" * 100_000]
ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"command": None, "path": 3, "skill": ["a"]},
    {"command": "\ud83c", "other": {"deep": [None, float("nan")]}},
    {"c": object()},
]


@pytest.mark.parametrize("name", TYPES)
def test_every_accepted_config_grades_or_explains(name: str, tmp_path: Path) -> None:
    model = grader_types()[name].config_model
    written = list(variants(schema_of(f"grader:{name}")["properties"]["config"]))
    rng = random.Random(name)
    contexts = [random_context(rng, tmp_path) for _ in range(10)]
    accepted = [config for config in written if accepts(model, config)]
    assert accepted
    for config in rng.sample(accepted, min(400, len(accepted))):
        try:
            verdict = create({"type": name, "name": "g", "config": config}).grade(rng.choice(contexts))
        except GraderError:
            continue
        assert 0 <= verdict.score <= 1
        assert isinstance(verdict.feedback, str)
        json.dumps(verdict.details, allow_nan=False)
        assert all(leads_somewhere(config, check.path) for check in verdict.checks)


def leads_somewhere(config: Any, path: Sequence[str | int]) -> bool:
    """Tell whether a check's path ends at a written value, or at an option that was left to its default."""
    for part in path:
        if isinstance(part, str):
            config = config.get(part) if isinstance(config, dict) else ...
        else:
            config = config[part] if isinstance(config, list) and part < len(config) else ...
    return config is not ...


def random_context(rng: random.Random, root: Path) -> GradingContext:
    workspace = folder(root / "workspace", {"a": "text\n", "src/main.py": "def x(): pass\n"})
    folder(root, {"skills/azure-deploy/SKILL.md": "---\nname: deploy\n---\n"})
    names = ["bash", "", "str_replace_edit", "\ud83c", "azure-deploy"]
    return GradingContext(
        output=rng.choice(OUTPUTS),
        tool_calls=rng.choice([None, [ToolCall(rng.choice(names), rng.choice(ARGUMENTS)) for _ in range(4)]]),
        skill_invocations=[SkillInvocation(rng.choice(names)) for _ in range(2)],
        usage=rng.choice([None, Usage(turns=3, input_tokens=10**12)]),
        duration_ms=rng.choice([0, 10**9]),
        prompt=rng.choice(OUTPUTS),
        workspace=rng.choice([None, workspace, workspace, root / "gone"]),
        suite_directory=root,
    )
