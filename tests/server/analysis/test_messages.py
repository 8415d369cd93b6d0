"""Messages are for people who write YAML: no words of Python, and none that say nothing."""

import re

import pytest

from tests.corpus.fixes import corpus_workspace, mutants
from tests.shared_corpus import needs_corpus
from waza_language_server.analysis.codes import CODES
from waza_language_server.analysis.codes.code import Code
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.diagnostics_page import problems_of

QUOTED = re.compile(r"`[^`]*`")
PYTHON = re.compile(
    r"\b(None|NoneType|True|False|str|int|bool|tuple|NaN|traceback|exception|object at)\b|\['|\w+Error\b"
)
EMPTY = re.compile(r"detected at line|something is missing|move this value or delete it", re.IGNORECASE)


def faults_of(problem: Problem) -> list[str]:
    """Return what a person would stumble over in a message and in the titles of its fixes."""
    texts = [problem.message, *(fix.title for fix in problem.fixes)]
    found = [text for text in texts if EMPTY.search(text) or not text.strip()]
    if not problem.code.startswith("assertion-"):
        # What is quoted is the author's; assertions are Python.
        found += [text for text in texts if PYTHON.search(QUOTED.sub("", text))]
    return found + [text for text in [problem.message] if text[-1:] not in {".", "?", "!"}]


@pytest.mark.parametrize("entry", CODES.values(), ids=lambda entry: entry.code)
def test_the_messages_of_the_examples_are_for_people(entry: Code) -> None:
    assert [fault for problem in problems_of(entry, entry.example) for fault in faults_of(problem)] == []


@needs_corpus
def test_the_messages_for_files_with_typos_are_for_people() -> None:
    workspace = corpus_workspace()
    faults = {
        fault
        for document in mutants(300, 5, workspace)
        for problem in diagnose(document, workspace)
        for fault in faults_of(problem)
    }
    assert faults == set()
