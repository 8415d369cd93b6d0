"""Typing in a file that cannot be read: slips are looked for with pauses, what is known is not read again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.analysis.drawing import TASK, problems
from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose, diagnose_in_steps
from waza_language_server.project.document import Document
from waza_language_server.syntax import events

GRADERS = "".join(
    f"  - type: text\n    name: g{number}\n    config:\n      contains:\n        - word {number}\n"
    "        - 'x y'\n      case_sensitive: true\n"
    for number in range(150)
)
HEAD = "name: s\nskill: s\ntasks: [t]\ngraders:\n"
SLIPS = {
    "an item at the margin": ("  - type: text\n    name: g75\n", "- type: text\n    name: g75\n"),
    "a key at the margin": ("    name: g75\n    config:\n", "    name: g75\nconfig:\n"),
    "colons forgotten everywhere": ("case_sensitive: true", "case_sensitive true"),
}


def documents(slip: tuple[str, str]) -> list[Document]:
    """Return a document with a slip, and what three keys in front of it make of it."""
    text = HEAD + GRADERS.replace(*slip)
    versions = [Document("file:///eval.yaml", 1, text, "eval")]
    for version in range(2, 5):
        name = "name: g20" + "x" * (version - 2)
        changed = versions[-1].text.replace(name, f"{name}x", 1)
        versions.append(versions[-1].replaced(changed, version))
    return versions


@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
def test_a_key_reads_little_of_what_the_trials_have_read(
    slip: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    events_of = events.events_of

    def counted(text: str) -> Iterator[events.Event]:
        read.append(len(text))
        return events_of(text)

    monkeypatch.setattr(events, "events_of", counted)
    first, *others = documents(slip)
    workspace = workspace_with()
    diagnose(first, workspace)
    opened = sum(read)
    for document in others:
        read.clear()
        assert diagnose(document, workspace)
        assert sum(read) < opened / 2


@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
def test_slips_are_looked_for_with_pauses(slip: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    taken = [0]
    take = events.Builder.take

    def counted(builder: events.Builder, event: events.Event) -> None:
        taken[0] += 1
        take(builder, event)

    monkeypatch.setattr(events.Builder, "take", counted)
    for document in documents(slip):
        for _ in diagnose_in_steps(document, workspace_with()):
            assert taken[0] < 1_500  # of about 3,000 in the file
            taken[0] = 0


@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
def test_the_same_is_said_as_of_a_text_just_opened(slip: tuple[str, str]) -> None:
    workspace = workspace_with()
    versions = documents(slip)
    for document in versions:
        problems = diagnose(document, workspace)
        fresh = diagnose(Document(document.uri, document.version, document.text, "eval"), workspace)
        assert [(one.span, one.code, one.message) for one in problems] == [
            (one.span, one.code, one.message) for one in fresh
        ]


@pytest.mark.parametrize("fault", ["prompt; Go", "prompt: [Go", "prompt: 'Go"])
@pytest.mark.parametrize("key", ["Tags", "tgas", "tags\u200b"])
def test_a_misspelt_key_is_told_beside_what_cannot_be_read(key: str, fault: str) -> None:
    text = TASK.replace("id:", f"{key}: [a]\nid:").replace("prompt: Go", fault)
    assert fault in text
    assert [problem.code for problem in problems(text) if key in problem.message] == ["unknown-key"]


def test_an_unknown_key_is_told_beside_what_can_be_read_with_its_fix() -> None:
    text = TASK.replace("id:", "something: [a]\nid:").replace("prompt: Go", "prompt: [Go")
    assert [problem.code for problem in problems(text)] == ["unknown-key", "yaml-syntax"]


def test_nothing_is_told_of_a_key_whose_mapping_is_a_guess() -> None:
    text = TASK.replace("prompt: Go", "prompt: >-\n    Go\nexpected\n  should_trigger: true")
    assert [problem.code for problem in problems(text)] == ["yaml-indentation"]
