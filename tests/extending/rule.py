"""A rule: a function, its row, and what its code means."""

from tests.extending.addition import Addition, Lines

ANALYSIS = "server/waza_language_server/analysis"

SHOUTED_NAME = Addition(
    files={
        f"{ANALYSIS}/file_rules/shouted_name.py": '''\
"""Names of tasks in capital letters."""

from collections.abc import Iterator

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.text.edit import Edit, Fix


def shouted_name(view: FileView) -> Iterator[Problem]:
    """Yield the name of a task that is written in capital letters alone."""
    name = view.tree.root.get("name") if view.kind == "task" and view.tree.root is not None else None
    if name is not None and name.kind == "scalar" and len(name.value) > 3 and name.value.isupper():
        fix = Fix("Write it as a title", (Edit(name.span, name.value.capitalize()),))
        yield Problem("shouted-name", name.span, f"`{name.value}` shouts.", "hint", (fix,))
'''
    },
    lines=(
        Lines(
            f"{ANALYSIS}/rules.py",
            "from waza_language_server.analysis.file_rules import grader_names as names_in_file",
            "from waza_language_server.analysis.file_rules import shouted_name\n",
        ),
        Lines(
            f"{ANALYSIS}/rules.py",
            "FILE_RULES: tuple[Rule[FileView], ...] = (",
            '    Rule("shouted name", shouted_name.shouted_name),\n',
        ),
        Lines(
            f"{ANALYSIS}/codes/structure.py",
            "STRUCTURE_CODES = (",
            """\
    Code(
        "shouted-name",
        "The name of the task is in capital letters",
        "hint",
        "In a list of results it looks like a failure.",
        "id: t\\nname: GREETS\\ninputs:\\n  prompt: Go\\n",
        "id: t\\nname: Greets\\ninputs:\\n  prompt: Go\\n",
    ),
""",
        ),
    ),
)
