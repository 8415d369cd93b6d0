"""Every code has an example that shows it at its exact characters, and a fix or a reason why there is none.

The drawings of all examples, carets included, are ``docs/diagnostics.md``: write it again with ``make
schemas``.
"""

import re
from pathlib import Path

import pytest

from tests.corpus.fixes import corpus_workspace, mutants
from tests.shared_corpus import needs_corpus
from waza_language_server.analysis.codes import CODES, GROUPS
from waza_language_server.analysis.codes.code import Code
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rules import RULES
from waza_language_server.diagnostics_page import diagnostics_page, problems_of
from waza_language_server.documentation import diagnostic_page
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.fault import FAULT_CODES
from waza_language_server.syntax.tried_edits import apply

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "server" / "waza_language_server"
every_code = pytest.mark.parametrize("entry", CODES.values(), ids=lambda entry: entry.code)


def test_codes_are_unique() -> None:
    codes = [entry.code for entries in GROUPS.values() for entry in entries]
    assert len(codes) == len(set(codes))


def test_every_code_that_a_rule_yields_is_in_the_table() -> None:
    written = {
        code
        for path in SOURCES.rglob("*.py")
        for code in re.findall(r'(?:Problem|Finding)\(\s*"([a-z0-9-]+)"', path.read_text(encoding="utf-8"))
    }
    assert written | set(FAULT_CODES) <= set(CODES)


def test_the_names_of_rules_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_the_page_is_what_the_rules_say() -> None:
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert page == diagnostics_page()


@every_code
def test_the_page_has_the_paragraph_that_an_editor_links_to(entry: Code) -> None:
    page, anchor = diagnostic_page(entry.code).split("#")
    path = path_of(page)
    assert path is not None
    assert f"### {anchor}\n" in path.read_text(encoding="utf-8")


@every_code
def test_the_example_has_the_problem_and_the_repaired_one_has_not(entry: Code) -> None:
    assert problems_of(entry, entry.example)
    assert not problems_of(entry, entry.fixed)


@every_code
def test_the_first_fix_repairs_the_example_or_a_reason_says_why_there_is_none(entry: Code) -> None:
    fixes = [fix for problem in problems_of(entry, entry.example) for fix in problem.fixes if fix.edits]
    if entry.no_fix:
        assert not fixes
    else:
        assert apply(entry.example, fixes[0].edits) == entry.fixed


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
