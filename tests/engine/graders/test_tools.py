"""What the agent did: `behavior`, `tool_calls`, `tool_constraint`.

The tables hold the worked examples of all three.
"""

from typing import Any

import pytest

from tests.engine.graders.grading import calls, failed_paths, grade, refused, result, usage
from waza_engine.vocabulary import ToolCall


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


@pytest.mark.parametrize(
    ("config", "context", "expected"),
    [
        ({"max_tool_calls": 10}, {"tool_calls": calls("bash " * 10)}, (1.0, True)),
        ({"max_tool_calls": 5}, {"tool_calls": calls("bash " * 8)}, (0.0, False)),
        (
            {"max_tool_calls": 5, "max_tokens": 1000},
            {"tool_calls": calls("bash " * 10), "usage": usage(500)},
            (0.5, False),
        ),
        (
            {"required_tools": ["read_file", "write_file"]},
            {"tool_calls": calls("read_file search")},
            (0.5, False),
        ),
        (
            {
                "max_tool_calls": 5,
                "max_tokens": 10,
                "max_duration_ms": 100,
                "required_tools": ["bash"],
                "forbidden_tools": ["rm"],
            },
            {"tool_calls": calls("bash"), "usage": usage(11), "duration_ms": 100},
            (0.8, False),
        ),
        (
            {"max_tool_calls": 1, "max_duration_ms": 1, "required_tools": ["x"], "forbidden_tools": ["bash"]},
            {"tool_calls": calls("bash bash"), "duration_ms": 2},
            (0.0, False),
        ),
        ({"max_tokens": 1}, {"usage": None}, (1.0, True)),
        ({"required_tools": ["Bash"]}, {"tool_calls": calls("bash")}, (0.0, False)),
        ({"required_tools": ["bash"]}, {"tool_calls": None}, (0.0, False)),
    ],
)
def test_behavior(config: dict[str, Any], context: dict[str, Any], expected: tuple[float, bool]) -> None:
    assert result(grade("behavior", config, **context)) == expected


def test_a_limit_that_could_not_be_checked_is_noted() -> None:
    verdict = grade("behavior", {"max_tokens": 1, "max_tool_calls": 1}, usage=None)
    assert verdict.feedback == (
        "All behavior checks passed; the executor reported no token usage, so the limit was not checked"
    )


@pytest.mark.parametrize(
    ("config", "used", "expected"),
    [
        ({"required_tools": ["bash", "view", "grep"]}, "bash", (0.3333, False)),
        ({"forbidden_tools": ["rm", "sudo"]}, "rm bash", (0.5, False)),
        ({"min_calls": 5}, "bash", (0.0, False)),
        ({"max_calls": 1}, "bash bash bash", (0.0, False)),
        (
            {"required_tools": ["bash", "grep"], "forbidden_tools": ["rm"], "min_calls": 1, "max_calls": 10},
            "bash view",
            (0.8, False),
        ),
        ({"min_calls": 3, "max_calls": 3}, "a b c", (1.0, True)),
        ({"max_calls": 0}, "", (1.0, True)),
        ({"max_calls": 0}, "bash", (0.0, False)),
        ({"min_calls": 0}, "", (1.0, True)),
        ({"expect": [{"tool": "bash"}, {"tool": "view"}]}, "bash", (0.5, False)),
        ({"required_tools": ["bash"], "forbidden_tools": ["rm"], "min_calls": 10}, "rm", (0.0, False)),
        ({"expect": [{"tool": "EDIT"}]}, "str_replace_edit", (1.0, True)),
    ],
)
def test_tool_calls_by_name(config: dict[str, Any], used: str, expected: tuple[float, bool]) -> None:
    assert result(grade("tool_calls", config, tool_calls=calls(used))) == expected


def test_an_expected_call_matches_one_single_call() -> None:
    config = {
        "expect": [
            {"tool": "^bash$", "args": {"command": {"regex": "^ls"}}},
            {"tool": "bash", "args": {"command": {"contains": "LS"}}},
        ]
    }
    verdict = grade("tool_calls", config, tool_calls=(call("bash", command="ls -la"),))
    assert result(verdict) == (0.5, False)
    assert failed_paths(verdict) == [("expect", 1)]


def test_equals_needs_the_argument_to_be_there() -> None:
    config = {"expect": [{"tool": "bash", "args": {"command": {"equals": "ls"}}}]}
    both = (call("bash", command="pwd"), call("bash", command="ls"))
    assert result(grade("tool_calls", config, tool_calls=both)) == (1.0, True)
    assert result(grade("tool_calls", config, tool_calls=(call("bash", command=""),))) == (0.0, False)


@pytest.mark.parametrize(
    ("matcher", "value", "holds"),
    [
        ({"equals": 42}, 42.0, True),
        ({"equals": 1}, True, False),
        ({"equals": None}, None, True),
        ({"equals": {"a": [1, 2]}}, {"a": [1.0, 2.0]}, True),
        ({"regex": "LS"}, "ls", False),
        ({"regex": '"a":1'}, {"a": 1}, True),
        ({"contains": "x"}, "axb", True),
        ({"range": {"gte": 1, "lte": 10}}, 10, True),
        ({"range": {"gt": 1, "lt": 10}}, 10, False),
        ({"range": {"gte": 1}}, "5", False),
        ({"range": {"gte": 0}}, True, False),
        ({"json_schema": {"type": "array", "minItems": 1}}, [1], True),
        ({"json_schema": {"type": "array", "minItems": 1}}, [], False),
        # As Go writes and reads numbers: an exponent below 1e-6 and from 1e21 on, all of double precision.
        ({"contains": "0.00001"}, 1e-05, True),
        ({"regex": "^1.5e-7$"}, 1.5e-7, True),
        ({"regex": "^10000000000000000$"}, 1e16, True),
        ({"regex": r"^1e\+21$"}, 1e21, True),
        ({"regex": "^12345678901234567000$"}, 12345678901234567890.0, True),
        ({"regex": r"^\[0.00001,\{\"a\":2,\"b\":-0\}\]$"}, [1e-05, {"b": -0.0, "a": 2.0}], True),
        ({"equals": 9007199254740993}, 9007199254740992.0, True),
        ({"equals": 10**400}, 1, False),
    ],
)
def test_argument_matchers(matcher: dict[str, Any], value: object, holds: bool) -> None:
    config = {"expect": [{"tool": "t", "args": {"other": matcher}}]}
    verdict = grade("tool_calls", config, tool_calls=(ToolCall("t", {"other": value}),))
    assert verdict.passed is holds


@pytest.mark.parametrize(
    ("matcher", "arguments", "holds"),
    [
        ({"equals": ""}, {"command": ""}, True),
        ({"regex": "^$"}, {"command": ""}, True),
        ({"equals": None}, {"command": None}, True),
        ({"equals": ""}, {}, False),
    ],
)
def test_an_argument_that_was_given_as_empty_text_is_there(
    matcher: dict[str, Any], arguments: dict[str, Any], holds: bool
) -> None:
    calls_made = (ToolCall("bash", arguments),)
    entry = {"tool": "bash", "args": {"command": matcher}}
    assert grade("tool_calls", {"expect": [entry]}, tool_calls=calls_made).passed is holds
    assert grade("tool_constraint", {"expect_tools": [entry]}, tool_calls=calls_made).passed is holds


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        ("ls", ["`config.expect[0].args.command`", "must be a block"]),
        ({}, ["give exactly one of `equals`"]),
        ({"regex": "a", "contains": "b"}, ["give exactly one of"]),
        ({"foo": "a"}, ["`config.expect[0].args.command.foo` is not an option here"]),
        ({"regex": None}, ["`regex` has no value"]),
        ({"regex": ""}, ["must not be empty"]),
        ({"regex": "("}, ["`config.expect[0].args.command`", "invalid pattern"]),
        ({"range": {"min": 1}}, ["at least one of `gte`"]),
        ({"range": {}}, ["at least one of `gte`"]),
        ({"json_schema": {}}, ["must not be empty"]),
        ({"json_schema": {"type": "bogus"}}, ["the schema is invalid at"]),
    ],
)
def test_a_bad_matcher_is_an_error(matcher: object, words: list[str]) -> None:
    with refused(*words):
        grade("tool_calls", {"expect": [{"tool": "bash", "args": {"command": matcher}}]})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"required": [{"pattern": "azd"}]}, (1.0, True)),
        ({"required": ["AZD UP"]}, (1.0, True)),
        ({"forbidden": [{"pattern": "rm -rf"}]}, (1.0, True)),
        ({"forbidden": ["azd up"], "max_calls": 1}, (0.5, False)),
        ({"required": ["azd"], "max_calls": 0}, (1.0, True)),
        ({"required": ["("]}, (0.0, False)),
        ({"required": ['"command": "azd up"']}, (1.0, True)),
    ],
)
def test_the_older_pattern_form_searches_name_and_arguments(
    config: dict[str, Any], expected: tuple[float, bool]
) -> None:
    assert result(grade("tool_calls", config, tool_calls=(call("azd", command="azd up"),))) == expected


def test_the_older_form_forbids_commands() -> None:
    verdict = grade("tool_calls", {"forbidden": ["rm -rf"]}, tool_calls=(call("bash", command="rm -rf /"),))
    assert result(verdict) == (0.0, False)


def entry(tool: str, **rest: Any) -> dict[str, Any]:
    return {"tool": tool, **rest}


@pytest.mark.parametrize(
    ("config", "used", "expected"),
    [
        ({"expect_tools": [entry("bash"), entry("edit")]}, calls("bash view"), (0.5, False)),
        ({"reject_tools": [entry("create_file"), entry("delete")]}, calls("bash create_file"), (0.5, False)),
        (
            {"expect_tools": [entry("bash"), entry("edit")], "reject_tools": [entry("create_file")]},
            calls("bash create_file"),
            (0.3333, False),
        ),
        ({"expect_tools": [entry("bash")], "reject_tools": [entry("delete")]}, calls(""), (0.5, False)),
        (
            {"expect_tools": [entry("bash", command_pattern=r"azd\s+up")]},
            (call("bash", command="azd up --region eastus"),),
            (1.0, True),
        ),
        (
            {"expect_tools": [entry("bash", command_pattern=r"azd\s+up")]},
            (call("bash", command="git status"),),
            (0.0, False),
        ),
        ({"expect_tools": [entry("bash|shell")]}, calls("bash"), (1.0, True)),
        ({"expect_tools": ["bash"]}, calls("Bash"), (0.0, False)),
        ({"expect_tools": ["bash"], "reject_tools": ["rm"]}, calls("bash format"), (1.0, True)),
        ({"reject_tools": [entry("rm")]}, calls("format"), (0.0, False)),
        ({"allow_only": ["BASH"]}, calls("bash"), (1.0, True)),
        ({"allow_only": []}, calls("bash"), (0.0, False)),
    ],
)
def test_tool_constraint(
    config: dict[str, Any], used: tuple[ToolCall, ...], expected: tuple[float, bool]
) -> None:
    assert result(grade("tool_constraint", config, tool_calls=used)) == expected


def test_tool_constraint_matches_arguments_of_any_tool() -> None:
    matchers = {"query": {"contains": "auth"}, "limit": {"range": {"gte": 1, "lte": 10}}}
    config = {"expect_tools": [entry("search", args=matchers)]}
    found = (call("search", query="find auth bypass", limit=5),)
    assert result(grade("tool_constraint", config, tool_calls=found)) == (1.0, True)
    assert result(grade("tool_constraint", config, tool_calls=calls("search"))) == (0.0, False)


def test_patterns_ignore_case_and_matchers_do_not() -> None:
    config = {
        "expect_tools": [
            entry("BASH", command_pattern="LS"),
            entry("bash", args={"command": {"regex": "LS"}}),
        ],
        "reject_tools": [entry("sea", args={"query": {"equals": "x"}})],
    }
    used = (call("bash", command="ls -la"), call("search", query="x"))
    verdict = grade("tool_constraint", config, tool_calls=used)
    assert failed_paths(verdict) == [("expect_tools", 1), ("reject_tools", 0)]


def test_limits_of_turns_and_tokens() -> None:
    config = {"max_turns": 2, "max_tokens": 10}
    assert result(grade("tool_constraint", config, usage=usage(10, turns=3))) == (0.5, False)
    assert result(grade("tool_constraint", config, usage=None)) == (1.0, True)


REFUSED: dict[str, list[tuple[dict[str, Any] | None, list[str]]]] = {
    "behavior": [
        *((config, ["nothing to check"]) for config in (None, {}, {"required_tools": []})),
        ({"max_tool_calls": 0}, ["nothing to check"]),
        ({"max_tool_calls": -1}, ["`config.max_tool_calls` must be 0 or more"]),
    ],
    "tool_calls": [
        ({}, ["nothing to check"]),
        ({"max_calls": -1}, ["`config.max_calls` must be 0 or more"]),
        ({"min_calls": 5, "max_calls": 2}, ["`min_calls` (5) must not be greater than `max_calls` (2)"]),
        ({"expect": [{}]}, ["`config.expect[0].tool` is missing"]),
        ({"expect": [{"tool": " "}]}, ["`config.expect[0].tool` must not be blank"]),
        ({"expect": [{"tool": "("}]}, ["`config.expect[0].tool`", "invalid pattern"]),
        ({"required": ["a"], "required_tools": ["b"]}, ["cannot be combined with", "write two graders"]),
    ],
    "tool_constraint": [
        ({}, ["nothing to check"]),
        ({"expect_tools": [entry("  ")]}, ["`config.expect_tools[0].tool` must not be blank"]),
        ({"expect_tools": [entry("")]}, ["`config.expect_tools[0].tool` must not be blank"]),
        ({"reject_tools": [entry("(")]}, ["`config.reject_tools[0].tool`", "invalid pattern"]),
        ({"reject_tools": [entry("a", command_pattern="[")]}, ["`config.reject_tools[0].command_pattern`"]),
        ({"expect_tools": {"tool": "bash"}}, ["`config.expect_tools` must be a list"]),
        ({"expect_tools": [entry("bash", args={"command": "ls"})]}, ["args.command"]),
    ],
}


@pytest.mark.parametrize(
    ("type_name", "config", "words"),
    [(name, config, words) for name, rows in REFUSED.items() for config, words in rows],
)
def test_rules_that_cannot_be_graded(type_name: str, config: dict[str, Any] | None, words: list[str]) -> None:
    with refused(*words):
        grade(type_name, config)


# --- `allow_only` ---


STATUS = ToolCall("bash", {"command": "git status"})
PUSH = ToolCall("bash", {"command": "git push"})
READ = ToolCall("view", {"path": "src/a.py"})


@pytest.mark.parametrize(
    ("allowed", "calls", "score"),
    [
        ([{"tool": "bash"}], [STATUS, PUSH], 1.0),
        ([{"tool": "BASH", "command_pattern": "^GIT STATUS$"}], [STATUS, PUSH], 0.5),
        ([{"tool": "bas"}], [STATUS], 0.0),
        ([{"tool": "b.sh"}], [STATUS], 0.0),
        ([{"tool": "read", "path_pattern": "^src/"}, "bash"], [READ, STATUS], 1.0),
        ([{"tool": "builtin:view"}], [READ], 1.0),
        ([{"tool": "mcp:view"}], [READ], 1.0),
        ([{"tool": "mcp:read"}], [READ], 0.0),
        ([{"tool": "bash", "args": {"command": {"equals": "git push"}}}], [STATUS, PUSH, READ], 1 / 3),
        ([], [STATUS, PUSH], 0.0),
        ([], [], 1.0),
    ],
)
def test_one_check_for_each_call(allowed: list[Any], calls: list[ToolCall], score: float) -> None:
    verdict = grade("tool_constraint", {"allow_only": allowed}, output="", tool_calls=calls)
    assert verdict.score == pytest.approx(score)
    assert verdict.passed is (score == 1.0)
    assert len(verdict.details["allow_only_violations"]) == round(len(calls) * (1 - score))


def test_it_counts_beside_the_other_checks() -> None:
    config = {"expect_tools": [{"tool": "bash"}], "allow_only": [{"tool": "bash"}]}
    verdict = grade("tool_constraint", config, output="", tool_calls=[STATUS, READ])
    assert verdict.score == pytest.approx(2 / 3)


# --- patterns of tools, as upstream reads them ---


@pytest.mark.usefixtures("pattern_library")
@pytest.mark.parametrize("tool", ["bash", " bash ", "\tbash\n"])
def test_blanks_around_a_tool_do_not_let_a_forbidden_call_pass(tool: str) -> None:
    config: dict[str, Any] = {"reject_tools": [{"tool": tool}]}
    verdict = grade("tool_constraint", config, tool_calls=[ToolCall("bash", {})])
    assert not verdict.passed
    assert grade("tool_constraint", config, tool_calls=[ToolCall("view", {})]).passed


@pytest.mark.usefixtures("pattern_library")
@pytest.mark.parametrize(
    ("arguments", "key", "pattern", "fits"),
    [
        ({"command": ["rm", "-rf"]}, "command_pattern", r'^\["rm","-rf"\]$', True),
        ({"command": ["rm", "-rf"]}, "command_pattern", "mv", False),
        ({"command": None}, "command_pattern", "^$", True),
        ({}, "path_pattern", "^$", True),
        ({"Path": "src/a.py"}, "path_pattern", "^src/", True),
        ({"PATH": "lib/a.py", "path": "src/a.py"}, "path_pattern", "^src/", True),
        ({"file_path": "src/a.py"}, "path_pattern", "src", False),
    ],
)
def test_patterns_search_an_argument_whatever_its_form(
    arguments: dict[str, Any], key: str, pattern: str, fits: bool
) -> None:
    config: dict[str, Any] = {"expect_tools": [{"tool": "bash", key: pattern}]}
    assert grade("tool_constraint", config, tool_calls=[ToolCall("bash", arguments)]).passed is fits


@pytest.mark.usefixtures("pattern_library")
def test_one_call_is_no_calls() -> None:
    verdict = grade("tool_calls", {"max_calls": 0}, tool_calls=[ToolCall("bash", {})])
    assert verdict.feedback == "1 tool call, at most 0 allowed"
