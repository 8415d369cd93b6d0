"""The requirements in a ``SKILL.md``, each with the number of tests that name it.

A requirement is a phrase of ``USE FOR:`` or ``DO NOT USE FOR:``, or a parameter, with the id that
``waza spec verify`` gives it. A test is a task of a suite of the skill, or a trigger prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.markdown import code
from waza_engine.spec.skill_requirements import SkillRequirement, SpokenTest, names, skill_requirements
from waza_language_server.features.scores.inlay_hints import InlayHint
from waza_language_server.project.front_matter import front_matter
from waza_language_server.project.suite_file import SuiteFile, prompts_in
from waza_language_server.project.suites import Task
from waza_language_server.syntax.tree import parse

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.index import Project
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.nodes import Node

_PARAMETERS = ("parameters", "params", "inputs")
_MOST_NAMED = 5
_MOST_SUITES = 20
"""A skill with more has no hints: a count of some of them would be wrong."""
_BY_WORDS = "Compared by words only, as `waza spec verify` does; graders decide how well it is tested."


@frozen()
class _Test:
    name: str
    is_prompt: bool
    spoken: SpokenTest


def requirement_hints(skill: SkillFile, suites: tuple[Suite, ...], project: Project) -> tuple[InlayHint, ...]:
    """Return a hint after each requirement of a skill, in their order; none without a suite that tests it.

    A task or prompt that several suites run counts once.
    """
    placed = list(_placed(skill)) if 0 < len(suites) <= _MOST_SUITES else []
    if not placed:
        return ()
    tests: list[_Test] = []
    all_known = True
    read: set[Path] = set()
    for suite in suites:
        # Rows of a table are not read here, and a broken file may have more tasks.
        all_known = all_known and suite.outline.complete and suite.outline.tasks_from is None
        all_known = all_known and not project.task_paths(suite).unknown
        tests += _tests_of(suite, project, read)
    hints: list[InlayHint] = []
    for requirement, offset in placed:
        checkpoint()
        found = [test for test in tests if names(test.spoken, requirement)]
        if found or all_known:
            hints.append(InlayHint(offset, _label(found), _tooltip(requirement, found), kind="requirement"))
    return tuple(sorted(hints, key=lambda hint: hint.offset))


def _label(found: list[_Test]) -> str:
    prompts = sum(1 for test in found if test.is_prompt)
    counts = ((len(found) - prompts, "task"), (prompts, "prompt"))
    return ", ".join(counted(count, what) for count, what in counts if count) or "no test"


def _tooltip(requirement: SkillRequirement, found: list[_Test]) -> str:
    if not found:
        sentence = "No task and no trigger prompt names this"
        if requirement.kind == "dont":
            sentence = "No task or trigger prompt in which the skill must not be used names this"
        return f"{sentence} ({code(requirement.id)}).\n\n{_BY_WORDS}"
    shown = ", ".join(code(test.name) for test in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return f"{code(requirement.id)} is named by {shown}{more}.\n\n{_BY_WORDS}"


def _tests_of(suite: Suite, project: Project, read: set[Path]) -> list[_Test]:
    """Return the tests of a suite, without those in files that were ``read`` for another one of the skill."""
    tests: list[_Test] = []
    for path in project.task_paths(suite).value:
        if path in read:
            continue
        read.add(path)
        tests.append(_Test(Task(path, project.outline).id, False, _spoken_test_in(path, project)))
    for entry in SuiteFile(project.tree(suite.path)).tasks():
        checkpoint()
        tests.append(_Test(entry.id, False, _spoken_test(entry.node)))
    for path in project.trigger_files(suite.folder):
        if path in read:
            continue
        read.add(path)
        for prompt in prompts_in(project.tree(path).root):
            checkpoint()
            spoken = SpokenTest.of([prompt.text], avoids=not prompt.should_trigger)
            tests.append(_Test(" ".join(prompt.text.split()), True, spoken))
    return tests


def _spoken_test_in(path: Path, project: Project) -> SpokenTest:
    opened = project.documents.get(path)
    if opened is not None:
        return _spoken_test(opened.tree.root)
    return project.disk.derived(path, "spoken test", lambda text: _spoken_test(parse(text.value).root))


def _spoken_test(task: Node | None) -> SpokenTest:
    """Return the words of all values of a task."""
    if task is None:
        return SpokenTest.of(())
    should = task.get("expected", "should_trigger")
    avoids = should is not None and should.kind == "scalar" and should.to_python() is False
    return SpokenTest.of([node.value for node in _values(task)], avoids=avoids)


def _values(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        if node.kind == "scalar":
            yield node
        elif node.kind == "mapping":
            stack += [entry.value for entry in node.each_entry()]
        else:
            stack += node.each_item()


def _placed(skill: SkillFile) -> Iterator[tuple[SkillRequirement, int]]:
    """Yield each requirement with the offset after it."""
    matter = front_matter(skill.text)
    root = parse(matter.text).root if matter.closed else None
    description = root.get("description") if root is not None and root.kind == "mapping" else None
    spoken = description.value if description is not None and description.kind == "scalar" else ""
    listed = list(_listed(root)) if root is not None and root.kind == "mapping" else []
    body_line = matter.text.count("\n") + 1 if matter.closed else 0
    body = skill.text[len(matter.text) :].split("\n", 1)[-1] if matter.closed else skill.text
    begin = description.span.start if description is not None else 0
    searched = _Collapsed(skill.text[begin : description.span.end] if description is not None else "")
    ends = iter([end for _, end in listed])
    for requirement in skill_requirements(spoken, [text for text, _ in listed], body):
        if requirement.kind != "param":
            end = searched.end_of(requirement.text)
            line = skill.lines.line_span(skill.lines.line_of(begin))
            yield requirement, line.end if end is None else begin + end
        elif requirement.line is not None:
            yield requirement, skill.lines.line_span(body_line + requirement.line).end
        else:
            yield requirement, next(ends)


def _listed(root: Node) -> Iterator[tuple[str, int]]:
    """Yield the parameters of the frontmatter, each with the offset after it."""
    for key in _PARAMETERS:
        node = root.get(key)
        if node is None:
            continue
        if node.kind == "mapping":
            for entry in node.each_entry():
                text = _text(entry.value)
                yield (f"{entry.key.value}: {text}" if text else entry.key.value), entry.key.span.end
        for item in [node] if node.kind == "scalar" else node.each_item():
            if text := _text(item):
                yield text, item.span.end


def _text(node: Node) -> str:
    if node.kind == "mapping":
        parts = ((entry.key.value, _text(entry.value)) for entry in node.each_entry())
        return ", ".join(f"{key}: {text}" for key, text in parts if key and text)
    return node.value.strip() if node.kind == "scalar" else ""


class _Collapsed:
    """A text with each run of blanks as one, searched from the front on."""

    def __init__(self, text: str) -> None:
        self._ends: list[int] = []
        shown: list[str] = []
        for at, character in enumerate(text):
            blank = character.isspace()
            if blank and shown and shown[-1] == " ":
                continue
            shown.append(" " if blank else character)
            self._ends.append(at + 1)
        self._text = "".join(shown)
        self._from = max(0, self._text.lower().find("use for:"))

    def end_of(self, phrase: str) -> int | None:
        """Return the offset after a phrase, None if it is not there literally."""
        found = self._text.find(phrase, self._from)
        found = found if found >= 0 else self._text.find(phrase)
        if found < 0 or not phrase:
            return None
        self._from = found + len(phrase)
        return self._ends[self._from - 1]
