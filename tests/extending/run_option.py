"""A run option: a field with its row, and what it does."""

from tests.extending.addition import Addition, Lines

GREETING = Addition(
    files={},
    lines=(
        Lines(
            "waza_engine/runs/settings/table.py",
            "    path: Path",
            """\
    greeting: Annotated[
        str | None,
        Setting("Say this before every prompt.", "--greeting", metavar="TEXT"),
    ] = None
""",
        ),
        Lines(
            "waza_engine/runs/settings/options.py",
            "    changes: dict[str, Any] = {}",
            """\
    if settings.greeting is not None:
        prompt = f"{settings.greeting} {task.task.inputs.prompt}"
        changes["inputs"] = task.task.inputs.model_copy(update={"prompt": prompt})
""",
        ),
    ),
)
