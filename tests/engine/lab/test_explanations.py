"""What each grader type says of a rule: what it met in one trial, and what came nearest."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from waza_engine.graders.base import (
    Grader,
    GraderConfig,
    GradingContext,
    SkillInvocation,
    ToolCall,
    Usage,
    Verdict,
)
from waza_engine.graders.registry import create
from waza_engine.lab.insight import Excerpt, Explanation, insight_of
from waza_engine.spec.grader_entry import GraderEntry

ANSWER = "Hello, the function `add` is done.\nDeployed  to https://example.org/1 now\n"
CALLS = (
    ToolCall("bash", {"command": "npm test", "path": ""}),
    ToolCall("edit", {"path": "src/main.py"}),
    ToolCall("bash", {"command": "npm run build"}),
)
TRIAL = GradingContext(
    output=ANSWER,
    tool_calls=CALLS,
    usage=Usage(turns=4, input_tokens=900, output_tokens=350),
    duration_ms=2500,
    skill_invocations=(SkillInvocation("writer"), SkillInvocation("reader")),
)


def explained(
    kind: str, config: dict[str, Any], *path: str | int, trial: GradingContext = TRIAL
) -> Explanation:
    found = insight_of(create(GraderEntry(type=kind, name="it", config=config))).explain(trial, path)
    assert found is not None
    return found


def marked(excerpt: Excerpt | None) -> str:
    assert excerpt is not None
    return f"{excerpt.before}»{excerpt.found}«{excerpt.after}"


@pytest.mark.parametrize(
    ("key", "wanted", "found", "how"),
    [
        ("contains", "hello, THE function", "Hello, the function", "found once"),
        ("contains", "Deployed to https", "Deployed  to https", "white space differs"),
        ("contains", "function add is", "function `add` is", "punctuation differs"),
        ("contains", "the funktion add was done", "the function `add` is done", "alike"),
        ("regex_match", r"https?://\S+", "https://example.org/1", "the first match"),
        ("regex_match", "deployed +to", "Deployed  to", "upper and lower case ignored"),
        ("regex_match", "Deployed to", "Deployed  to", "any white space between its words"),
        ("regex_match", r"https?://\\S+", "https://example.org/1", "its backslashes not doubled"),
        ("regex_match", "^Deployed", "Deployed", "its anchors for lines"),
        ("regex_match", "^the function", "the function", "without its anchors"),
        ("regex_match", "functions", "function", "the plural"),
        ("regex_match", r"Deployed +to (http|ftp)s?://\d+", "Deployed  to https://", "only its beginning"),
        ("regex_match", r"(?<=to )https", "https", "the first match"),
    ],
)
def test_a_text_or_pattern_tells_where_it_is_found_or_what_is_nearest(
    key: str, wanted: str, found: str, how: str
) -> None:
    said = explained("text", {key: [wanted]}, key, 0)
    assert how in said.told[0]
    assert f"»{found}«" in marked(said.excerpt)


def test_a_text_that_minds_case_tells_that_only_this_differs() -> None:
    said = explained("text", {"contains_cs": ["hello"]}, "contains_cs", 0)
    assert said.told == ("not found; the nearest in the answer: upper and lower case differ",)
    assert marked(said.excerpt).startswith("»Hello«, the function")


def test_a_text_that_nothing_is_like_tells_how_the_answer_begins() -> None:
    said = explained("keyword", {"keywords": ["zzyzx quux"]}, "keywords", 0)
    assert said.told == ("nothing in the answer is like it, which begins:",)
    assert marked(said.excerpt).startswith("»«Hello")
    empty = explained("keyword", {"keywords": ["x"]}, "keywords", 0, trial=replace(TRIAL, output=" \n"))
    assert empty.told == ("the answer is empty",)


def test_special_characters_that_were_meant_as_text_are_found_out() -> None:
    trial = replace(TRIAL, output="call add(1, 2) now")
    said = explained("regex", {"must_match": ["add(1, 2)"]}, "must_match", 0, trial=trial)
    assert "its special characters as plain text" in said.told[0]
    assert "»add(1, 2)«" in marked(said.excerpt)


def test_an_invalid_pattern_tells_what_is_wrong_with_it() -> None:
    assert "is not closed" in explained("regex", {"must_match": ["(a"]}, "must_match", 0).told[0]


@pytest.mark.parametrize(
    ("kind", "config", "observed", "told"),
    [
        ("behavior", {"max_tool_calls": 2}, "3", "3 tool calls, at most 2 allowed: 1 too many"),
        ("behavior", {"max_tokens": 2000}, "1,250", "1,250 tokens, at most 2,000 allowed: 750 to spare"),
        ("behavior", {"max_duration_ms": 900}, "2,500", "1,600 too many"),
        ("behavior", {"required_tools": ["Bash"]}, "0×", "no Bash among 3 tool calls: bash ×2, edit"),
        ("tool_calls", {"min_calls": 5}, "3", "at least 5 allowed: 2 too few"),
        ("tool_calls", {"forbidden_tools": ["bash"]}, "2×", "bash 2 times among 3 tool calls"),
        ("tool_calls", {"expect": [{"tool": "view"}]}, "0×", "the calls: bash ×2, edit"),
        ("tool_calls", {"required": [{"pattern": "npm ci"}]}, "begins", 'only its beginning "npm "'),
        ("tool_constraint", {"reject_tools": ["edit"]}, "1×", "1 call fits of 3"),
        ("tool_constraint", {"allow_only": ["bash"]}, "1 of 3", "3 tool calls; not allowed: edit"),
        ("tool_constraint", {"max_turns": 3, "expect_tools": ["a"]}, "4", "4 turns, at most 3 allowed"),
        (
            "skill_invocation",
            {"forbidden_skills": ["reader"], "mode": "in_order"},
            "1×",
            "reader once among 2 skill invocations",
        ),
    ],
)
def test_limits_and_names_tell_what_was_observed(
    kind: str, config: dict[str, Any], observed: str, told: str
) -> None:
    key, value = next(iter(config.items()))
    said = explained(kind, config, *([key, 0] if isinstance(value, list) else [key]))
    assert said.observed == observed
    assert told in said.told[0]


def test_an_expected_call_tells_of_the_nearest_which_arguments_fit() -> None:
    args = {"command": {"regex": "^yarn"}, "path": {"equals": "src/main.py"}}
    said = explained("tool_calls", {"expect": [{"tool": "edit|bash", "args": args}]}, "expect", 0, "args")
    assert said.told == ("3 calls of edit|bash; the nearest has 1 of 2 arguments as wanted",)
    assert said.values == (("✗ command", "not given"), ("✓ path", "src/main.py"))
    said = explained(
        "tool_constraint",
        {"expect_tools": [{"tool": "bash", "command_pattern": "NPM Test"}]},
        "expect_tools",
        0,
    )
    assert said.told == ("1 call fits of 3",)


def test_sequences_are_aligned_with_the_real_ones() -> None:
    config = {"expected_actions": ["edit", "view", "bash"], "matching_mode": "exact_match"}
    assert explained("action_sequence", config, "expected_actions", 1).lines == (
        "+bash",
        " edit",
        "-view",
        " bash",
    )
    config = {"required_skills": ["writer", "tester"], "mode": "in_order"}
    assert explained("skill_invocation", config, "required_skills").lines == (" writer", "-tester", "+reader")


def test_a_schema_tells_the_failing_places() -> None:
    trial = replace(TRIAL, output='{"items": [1, "b"]}')
    schema = {
        "type": "object",
        "required": ["status"],
        "properties": {"items": {"items": {"type": "string"}}},
    }
    said = explained("json_schema", {"schema": schema}, "schema", "required", trial=trial)
    assert said.told == ("$: 'status' is a required property", '$.items[0]: 1 is not of type "string"')
    said = explained("json_schema", {"schema": schema}, "schema", trial=replace(TRIAL, output='{"a": }'))
    assert (said.observed, marked(said.excerpt)) == ("no JSON", '{"a": »}«')


def test_a_snapshot_tells_how_the_file_differs(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "main.py").write_text("def a():\n    return 2\n", "utf-8")
    (tmp_path / "main.py").write_text("def a():\n    return 1\n", "utf-8")
    config = {"expected_files": [{"path": "main.py", "snapshot": "main.py", "contains": ["def b()"]}]}
    trial = replace(TRIAL, workspace=workspace, suite_directory=tmp_path)
    said = explained("diff", config, "expected_files", 0, "snapshot", trial=trial)
    assert said.lines == ("@@ -1,2 +1,2 @@", " def a():", "-    return 1", "+    return 2")
    said = explained("diff", config, "expected_files", 0, "contains", 0, trial=trial)
    assert "»def a()«" in marked(said.excerpt)
    config = {"content_patterns": [{"path": "main.py", "must_match": ["return [0-9]"]}]}
    said = explained("file", config, "content_patterns", 0, "must_match", 0, trial=trial)
    assert "»return 2«" in marked(said.excerpt)


def test_a_trigger_tells_the_words_that_prompt_and_skill_share(tmp_path: Path) -> None:
    skill = "---\nname: deploy\ndescription: Deploys apps to the cloud\n---\nUse it.\n"
    (tmp_path / "SKILL.md").write_text(skill, "utf-8")
    config = {"skill_path": "SKILL.md", "mode": "positive", "threshold": 0.6}
    trial = replace(TRIAL, prompt="deploy my banana", suite_directory=tmp_path)
    said = explained("trigger", config, "threshold", trial=trial)
    assert said.values[:2] == (
        ("words of the prompt that the skill has", "deploy"),
        ("words that it has not", "banana"),
    )


def test_an_assertion_tells_its_parts_as_they_were_evaluated() -> None:
    assertions = [
        "(n := len(output)) > 3",
        "n > 500 or tool_calls[0]['name'] == 'edit' or tool_calls[9]['name']",
    ]
    said = explained("code", {"assertions": assertions}, "assertions", 1)
    assert said.observed == "error"
    assert said.told == ("IndexError: list index out of range",)
    assert ("n", "74") in said.values
    assert ("tool_calls[0]['name']", "'bash'") in said.values
    said = explained(
        "code", {"assertions": [assertions[0], assertions[1].rpartition(" or")[0]]}, "assertions", 1
    )
    assert said.told == ("not true: `tool_calls[0]['name'] == 'edit'` decides",)


@pytest.mark.parametrize(
    ("assertion", "part", "value"),
    [
        ("len(output * 100) > 10000", "len(output * 100)", "7,400"),
        ("any(c['name'] == 'view' for c in tool_calls)", "c['name']", "'bash', the last of 3"),
        ("re.search('zzz', output)", "re.search('zzz', output)", "None"),
        ("re.search('the', output)", "re.search('the', output)", "match 'the' at character 8"),
        ("output * 9 == ''", "output * 9", f"{ANSWER * 2!r}"[:-1][:124] + "'… (666 characters)"),
        (
            "not [c['name'] for c in tool_calls]",
            "[c['name'] for c in tool_calls]",
            "['bash', 'edit', 'bash']",
        ),
    ],
)
def test_values_are_told_in_a_few_characters(assertion: str, part: str, value: str) -> None:
    said = explained("code", {"assertions": [assertion]}, "assertions", 0)
    assert dict(said.values)[part] == value


def test_what_is_not_evaluated_has_no_value() -> None:
    said = explained("code", {"assertions": ["output and not output and tool_calls[7]"]}, "assertions", 0)
    assert "tool_calls[7]" not in dict(said.values)
    assert said.told == ("not true: `not output` decides",)


@pytest.mark.parametrize(
    ("kind", "config", "path"),
    [
        ("text", {"contains": ["a"]}, ["contains"]),
        ("behavior", {"max_tool_calls": 2}, ["max_tokens"]),
        ("code", {"assertions": ["output"]}, ["language"]),
    ],
)
def test_what_is_no_rule_has_no_explanation(kind: str, config: dict[str, Any], path: list[str]) -> None:
    grader = create(GraderEntry(type=kind, name="it", config=config))
    assert insight_of(grader).explain(TRIAL, tuple(path)) is None


class OfPackage(Grader[GraderConfig]):
    type = "of_a_package"
    title = "Of a package"
    config_model = GraderConfig
    example = ""
    evidence: ClassVar = frozenset({"files"})

    def looks_at(self, workspace: Path) -> list[Path]:
        return [workspace / "a"]

    def grade(self, context: GradingContext) -> Verdict:
        return Verdict(1.0, True, context.output)


def test_a_grader_of_a_package_has_its_insight_itself(tmp_path: Path) -> None:
    insight = insight_of(OfPackage("it", GraderConfig()))
    assert insight.reads() == {"files"}
    assert insight.looks_into(tmp_path) == [tmp_path / "a"]
    assert insight.explain(TRIAL, ("x",)) is None
