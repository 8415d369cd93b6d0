"""Each fix that is made of recorded trials, applied to the text, gives what its title promises."""

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.live.bed import passes_by_task, recorded_bed
from tests.live.edits import entry
from waza_engine.commands.live import fix_document
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.recorded_rules import recorded_fixes
from waza_engine.lab.live.work import LiveRequest
from waza_language_server.features.actions.recorded_fixes import file_fix, title_of
from waza_language_server.features.actions.recorded_fixes import recorded_fixes as as_actions
from waza_language_server.project.document import Document
from waza_language_server.project.graded_rule import Rule, rule_under
from waza_language_server.project.uris import uri_of
from waza_language_server.syntax.tried_edits import apply

pytestmark = pytest.mark.check

GRADERS = """\
- type: text
  name: texts
  config:
    contains:
      # how it is said
      - Function  add   is done
    regex_match:
      - "deployed to"
- {type: regex, name: pattern, config: {must_match: ['^HELLO']}}
- {type: keyword, name: word, config: {must_contain: [permision denied]}}
- type: behavior
  name: limits
  config:
    max_tool_calls: 2
    max_tokens: 100
    max_duration_ms: 250
    required_tools: [Bash]
- type: action_sequence
  name: order
  config:
    matching_mode: exact_match
    expected_actions:
      - edit
      - bash
- {type: action_sequence, name: flow, config: {matching_mode: exact_match, expected_actions: [edit]}}
- {type: skill_invocation, name: skills, config: {mode: any_order, required_skills: [Writer]}}
- type: tool_calls
  name: calls
  config:
    max_calls: 1
    expect:
      - tool: shell
        args:
          command:
            regex: NPM TEST
- {type: tool_calls, name: least, config: {min_calls: 9}}
- type: tool_constraint
  name: constraint
  config:
    expect_tools: [shell, {tool: bash, command_pattern: '^npm  test$'}]
    allow_only: [view]
- type: json_schema
  name: shape
  config:
    schema:
      type: object
      required: [gone]
- type: diff
  name: snapshot
  config:
    expected_files:
      - path: main.py
        snapshot: snapshots/main.py
        contains: [def  new_function]
"""
ASSERTIONS = """\
- type: code
  name: assertions
  config:
    assertions:
      - len(output) < 30  # short
      - "'Hello' in output.lower()"
      - 'any(call["name"] == "Bash" for call in tool_calls)'
- type: code
  name: beside
  assertions: ["output.startswith('Hello WORLD') or 'ä' in output and len(output) > 50"]
"""
FORMS = (
    "len(output) < {number}", "{number} >= len(tool_calls)", "len(output) > {number}",
    "len(output.split()) >= {number}", "10 < duration_ms <= {number}", "{word} in output",
    "{word} in output.lower()", "output.strip() == {word}", "output.startswith({word})",
    "output.endswith({word})", "any(call['name'] == {tool} for call in tool_calls)", "{tool} not in output",
    "not ({word} in output)", "len(tool_calls) > {number} or {word} in output",
    "{word} in output and len(output) < {number}", "tool_calls[0]['name'] == {tool}",
)  # fmt: skip
KINDS = {
    "texts", "pattern", "word", "limits", "order", "flow", "skills", "calls", "least", "constraint", "shape",
}  # fmt: skip


def rules_in(document: Document) -> list[Rule]:
    root = document.tree.root
    assert root is not None
    found: dict[tuple[str, tuple[str | int, ...]], Rule] = {}
    for node in root.walk():
        rule = rule_under(document, node.span.start) if node.kind == "scalar" else None
        if rule is not None:
            found.setdefault((rule.grader, rule.path), rule)
    return list(found.values())


class Bed:
    """A suite with a recorded run, its live session, and what grading it again says of other texts."""

    def __init__(self, folder: Path, graders: str) -> None:
        self.path, self.record = recorded_bed(folder, graders)
        self.document = self.read(self.path.read_text("utf-8"))
        self.session = LiveSession(LiveRequest(self.record, self.path))

    def read(self, text: str) -> Document:
        return Document(uri_of(self.path), 1, text, "eval")

    def fixes(self, rule: Rule) -> list[dict[str, Any]]:
        return [fix_document(fix) for fix in recorded_fixes(self.session, rule.grader, rule.path, rule.task)]

    def passes(self, grader: str, overlays: dict[Path, str]) -> list[bool]:
        """Return by trial whether a grader passes, as ``waza-engine grade`` judges the texts."""
        return [verdict for _, verdict in passes_by_task(self.path, self.record, grader, overlays)]

    def applied(self, rule: Rule, fix: dict[str, Any]) -> dict[Path, str] | None:
        """Return the texts with a fix, None when the editor does not offer it."""
        if "file" in fix:
            file = Path(fix["file"])
            change = file_fix(fix, file, file.read_text("utf-8") if file.exists() else None).change
            if change.creations:
                return {file: change.creations[0].text}
            return {file: apply(change.files[0].text, change.files[0].edits)}
        actions = as_actions(self.document, rule, [fix])
        if not actions:
            return None
        (edit,) = actions[0].change.files
        return {self.path: apply(edit.text, edit.edits)}


def check_all(bed: Bed) -> Counter[str]:
    """Apply every fix of every rule; return how many were offered by grader."""
    offered: Counter[str] = Counter()
    for rule in rules_in(bed.document):
        for fix in bed.fixes(rule):
            before, after = fix["before"], fix["after"]
            texts = bed.applied(rule, fix)
            if texts is None:
                continue
            then, now = bed.passes(rule.grader, {}), bed.passes(rule.grader, texts)
            shown = f"{title_of(fix)}\n{texts}"
            assert (sum(then), sum(now)) == (before["grader"], after["grader"]), shown
            assert all(new >= old for old, new in zip(then, now, strict=True)), shown
            assert (after["grader"], after["rule"]) > (before["grader"], before["rule"]), shown
            text = texts.get(bed.path)
            if text is not None and text.count("\n") == bed.document.text.count("\n"):
                # The rule still stands where it stood: what is said of it now is what was promised.
                again = LiveSession(LiveRequest(bed.record, bed.path))
                again.take({bed.path: text})
                later = recorded_fixes(again, rule.grader, rule.path, rule.task)
                again.close()
                assert all(one.before.rule == after["rule"] for one in later), shown
            offered[rule.grader] += 1
    return offered


def test_every_kind_of_rule_has_fixes_that_do_what_they_promise(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite", GRADERS)
    try:
        offered = check_all(bed)
    finally:
        bed.session.close()
    assert set(offered) >= KINDS


@pytest.mark.parametrize("seed", range(2))
def test_fixes_of_random_graders_do_what_they_promise(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    bed = Bed(tmp_path / "suite", "".join(entry(random, f"g{number}") for number in range(8)))
    try:
        check_all(bed)
    finally:
        bed.session.close()


def test_assertions_have_fixes_that_do_what_they_promise(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite", ASSERTIONS)
    try:
        offered = check_all(bed)
    finally:
        bed.session.close()
    assert offered["assertions"] >= 3
    assert offered["beside"] >= 1


SEVERAL_LINES = """\
- type: code
  name: block
  config:
    assertions:
      - |
        (
          'é' not in output and len(output) < 30  # short
          and any(call["name"] == "Bash" for call in tool_calls)
        )
      - >-
        any(
          call["name"] == "Bash"
          for call in tool_calls
        )
      - "len(\\n output) <= 30"
"""


def test_assertions_over_several_lines_have_fixes_that_do_what_they_promise(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite", SEVERAL_LINES)
    try:
        offered = check_all(bed)
        assert titles(bed, "block", "assertions", 2) == [
            "Raise the limit to 68, the most observed (this holds on 6 of 6 recorded trials, now 1; "
            "the grader still passes on 0): len( output) <= 68",
            "Raise the limit to 70, above the 68 observed (this holds on 6 of 6 recorded trials, now 1; "
            "the grader still passes on 0): len( output) <= 70",
        ]
    finally:
        bed.session.close()
    assert offered["block"] >= 4


def random_assertion(random: Random) -> str:
    words = ("Hello", "HELLO, the  function", "permision denied", "12 OF 12", "status", "ReadMe.md", "zebra")
    return random.choice(FORMS).format(
        number=random.choice((0, 1, 2, 3, 20, 40, 60, 100, 250, 400, "1_000")),
        word=repr(random.choice(words)),
        tool=repr(random.choice(("Bash", "shell", "read_file", "Skill", "edit"))),
    )


def test_fixes_of_random_assertions_do_what_they_promise(tmp_path: Path) -> None:
    random = Random(0)
    graders = [
        {
            "type": "code",
            "name": f"g{number}",
            "config": {"assertions": [random_assertion(random) for _ in range(random.choice((1, 1, 2)))]},
        }
        for number in range(10)
    ]
    bed = Bed(tmp_path / "suite", "".join(f"- {json.dumps(grader)}\n" for grader in graders))
    try:
        offered = check_all(bed)
    finally:
        bed.session.close()
    assert offered.total() >= 3


def of_assertion(folder: Path, assertion: str, **more: object) -> list[str]:
    """Return the titles of the fixes that an assertion of its own has."""
    config = {"assertions": [assertion], **more}
    bed = Bed(folder, f"- {json.dumps({'type': 'code', 'name': 'it', 'config': config})}\n")
    try:
        return titles(bed, "it", "assertions", 0)
    finally:
        bed.session.close()


@pytest.mark.parametrize(
    ("assertion", "fixes"),
    [
        (
            "len(output) <= 30",
            [
                "Raise the limit to 68, the most observed (passes on 6 of 6 recorded trials, now 1): "
                "len(output) <= 68",
                "Raise the limit to 70, above the 68 observed (passes on 6 of 6 recorded trials, now 1): "
                "len(output) <= 70",
            ],
        ),
        (
            "len(output) > 50",
            [
                "Lower the limit to 35, below the 39 observed (passes on 5 of 6 recorded trials, now 3): "
                "len(output) > 35"
            ],
        ),
        (
            "'Hello' in output.lower()",
            [
                "Expect it as it was answered (passes on 3 of 6 recorded trials, now 0): "
                "'hello' in output.lower()"
            ],
        ),
        (
            "'ä' in output or output.startswith(\"Hello WORLD\")",
            [
                "Expect it as it was answered (passes on 1 of 6 recorded trials, now 0): "
                "'ä' in output or output.startswith(\"hello WORLD\")"
            ],
        ),
        (
            "any(c['name'] == 'Bash' for c in tool_calls)",
            [
                "Name it as the agent does (passes on 3 of 6 recorded trials, now 0): "
                "any(c['name'] == 'bash' for c in tool_calls)"
            ],
        ),
    ],
)
def test_a_number_or_text_of_an_assertion_is_what_was_recorded(
    tmp_path: Path, assertion: str, fixes: list[str]
) -> None:
    assert of_assertion(tmp_path / "suite", assertion) == fixes


@pytest.mark.parametrize(
    "assertion",
    [
        # What must not be there has no safe repair.
        "'hello' not in output.lower()",
        "not ('hello' in output.lower())",
        "not output.startswith('Hello')",
        # An empty answer would keep any lower limit.
        "len(output) > 0",
        "len(errors) == 0",
        "'zebra crossing' in output",
        # What its parts come to is not known.
        "len([word for word in output.split() if len(word) > 3]) > 90",
        "any(len(output) > 50 for output in ['a'])",
        "(output := 'other') and len(output) > 50",
        "len(output) <",
    ],
)
def test_an_assertion_has_no_fix_where_none_is_safe(tmp_path: Path, assertion: str) -> None:
    assert of_assertion(tmp_path / "suite", assertion) == []


def test_an_assertion_in_another_language_has_no_fix(tmp_path: Path) -> None:
    assert of_assertion(tmp_path / "suite", "output.length < 30", language="javascript") == []


def titles(bed: Bed, grader: str, *path: str | int) -> list[str]:
    return [title_of(fix_document(fix)) for fix in recorded_fixes(bed.session, grader, path)]


def test_the_title_says_on_how_many_trials_it_helps(tmp_path: Path) -> None:
    bed = Bed(
        tmp_path / "suite",
        "- {type: behavior, name: few, config: {max_tool_calls: 2}}\n"
        "- {type: behavior, name: both, config: {max_tool_calls: 2, required_tools: [web]}}\n",
    )
    try:
        assert titles(bed, "few", "max_tool_calls") == [
            "Raise max_tool_calls to 4, the most observed (passes on 6 of 6 recorded trials, now 3)",
            "Raise max_tool_calls to 5, above the 4 observed (passes on 6 of 6 recorded trials, now 3)",
        ]
        assert titles(bed, "both", "max_tool_calls")[0] == (
            "Raise max_tool_calls to 4, the most observed (this holds on 6 of 6 recorded trials, now 3; "
            "the grader still passes on 0)"
        )
    finally:
        bed.session.close()


def test_what_holds_has_no_fix_nor_what_nothing_recorded_would_help(tmp_path: Path) -> None:
    bed = Bed(
        tmp_path / "suite",
        "- {type: behavior, name: many, config: {max_tool_calls: 20}}\n"
        "- {type: text, name: absent, config: {contains: [zebra crossing]}}\n"
        "- {type: text, name: forbids, config: {not_contains: [hello]}}\n"
        "- {type: program, name: runs, config: {command: 'true'}}\n",
    )
    try:
        assert titles(bed, "many", "max_tool_calls") == []
        assert titles(bed, "absent", "contains", 0) == []
        assert titles(bed, "forbids", "not_contains", 0) == []
        assert titles(bed, "runs", "command") == []
    finally:
        bed.session.close()


def test_a_snapshot_can_be_taken_from_what_the_agent_wrote(tmp_path: Path) -> None:
    config = "{expected_files: [{path: main.py, snapshot: snapshots/main.py}]}"
    bed = Bed(tmp_path / "suite", f"- {{type: diff, name: same, config: {config}}}\n")
    snapshot = bed.path.parent / "snapshots" / "main.py"
    snapshot.write_text("def old():\n", "utf-8")
    try:
        offered = [
            fix_document(fix)
            for fix in recorded_fixes(bed.session, "same", ("expected_files", 0, "snapshot"))
        ]
        assert [(one["words"], Path(one["file"]), one["after"]["grader"]) for one in offered] == [
            ("Accept what the agent wrote as snapshot snapshots/main.py", snapshot, 2),
            ("Accept what the agent wrote as snapshot snapshots/main.py", snapshot, 1),
        ]
        assert snapshot.read_text("utf-8") == "def old():\n"
        assert sum(bed.passes("same", {snapshot: offered[0]["text"]})) == 2
    finally:
        bed.session.close()


def test_a_comment_in_what_would_be_replaced_is_not_lost(tmp_path: Path) -> None:
    graders = (
        "- type: action_sequence\n  name: order\n  config:\n    matching_mode: exact_match\n"
        "    expected_actions:\n      - edit\n      # then\n      - bash\n"
    )
    bed = Bed(tmp_path / "suite", graders)
    try:
        rule = next(rule for rule in rules_in(bed.document) if rule.path[0] == "expected_actions")
        fixes = bed.fixes(rule)
        assert fixes
        assert as_actions(bed.document, rule, fixes) == []
    finally:
        bed.session.close()
