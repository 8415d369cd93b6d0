"""The graders of this engine that give the verdicts of Vally's, one for each, as one table.

The page ``docs/vally.md`` is generated from this table.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from waza_engine.spec.vally.eval_models import Stimulus
from waza_engine.spec.vally.grader_options import ToolCallPattern
from waza_engine.spec.vally.versions import milliseconds_of

Options = dict[str, Any]
"""The ``config`` of a grader of this engine."""


class NoCounterpartError(ValueError):
    """No grader of this engine takes a part of the options; the message names it."""


class Counterpart(NamedTuple):
    """The grader type that takes the place of one of Vally's; ``loss`` says how verdicts may differ.

    One that ``rates`` keeps its score; the others count 1 or 0 by their verdicts (``binary``).
    """

    type: str
    options: Callable[[Any, Stimulus], Options]
    loss: str = ""
    rates: bool = False


_JAVASCRIPT = (
    (re.compile(r"(?<!\\)\[\^\]"), r"[\\s\\S]"),
    (re.compile(r"(?<!\\)\\k<(\w+)>"), r"(?P=\1)"),
    (re.compile(r"(?<!\\)\(\?<(\w+)>"), r"(?P<\1>"),
    (re.compile(r"(?<!\\)\\/"), "/"),
)


def as_pattern(javascript: str) -> str:
    """Return a JavaScript pattern with the forms that neither RE2 nor Python has in theirs."""
    for written, ours in _JAVASCRIPT:
        javascript = written.sub(ours, javascript)
    return javascript


def _contains(negated: bool, options: Any, _: Stimulus) -> Options:
    key = "contains" if negated == options.negate else "not_contains"
    text = options.substring or options.value
    return {f"{key}_cs" if options.case_sensitive else key: [text]}


def _matches(negated: bool, options: Any, _: Stimulus) -> Options:
    key = "regex_match" if negated == options.negate else "regex_not_match"
    return {key: [as_pattern(options.pattern)]}


_ANSWERS = r"'\n'.join([e.get('content') or '' for e in transcript if e.get('type') == 'assistant.message'])"


def _in_answers(negated: bool, options: Any, _: Stimulus) -> Options:
    text, answers = options.substring or options.value, _ANSWERS
    if not options.case_sensitive:
        text, answers = text.lower(), f"{_ANSWERS}.lower()"
    return {"assertions": [f"{text!r} {'in' if negated == options.negate else 'not in'} {answers}"]}


def _found_in_answers(negated: bool, options: Any, _: Stimulus) -> Options:
    search = f"re.search({as_pattern(options.pattern)!r}, {_ANSWERS})"
    return {"assertions": [f"{search} is {'not None' if negated == options.negate else 'None'}"]}


def _exists(negated: bool, options: Any, _: Stimulus) -> Options:
    return {"must_not_exist" if negated else "must_exist": [options.path], "globs": True}


def _in_files(negated: bool, options: Any, _: Stimulus) -> Options:
    pattern = as_pattern(options.pattern) if hasattr(options, "pattern") else re.escape(options.value)
    key = "must_not_match" if negated else "must_match"
    return {"content_patterns": [{"path": options.path, key: [pattern]}], "globs": True}


_PLAIN = re.compile(r"[\w-]+")
_UNSUPPORTED = (
    "pattern",
    "result",
    "write_only",
    "read_only",
    "before_step",
    "at_step",
    "min_count",
    "final",
)


def _tool(call: str | ToolCallPattern) -> Options:
    if isinstance(call, str):
        return {"tool": as_pattern(call)}
    if unsupported := next((key for key in _UNSUPPORTED if getattr(call, key)), None):
        raise NoCounterpartError(f"`{unsupported}`")
    patterns = {"command_pattern": call.command, "path_pattern": call.path}
    return {
        "tool": as_pattern(call.name),
        **{key: as_pattern(pattern) for key, pattern in patterns.items() if pattern},
        **({"args": {k: {"regex": as_pattern(v)} for k, v in call.args.items()}} if call.args else {}),
    }


def _tool_calls(options: Any, _: Stimulus) -> Options:
    if unsupported := next((key for key in ("sequence", "parallel") if getattr(options, key)), None):
        raise NoCounterpartError(f"`{unsupported}`")
    return {
        "expect_tools": [_tool(call) for call in options.required],
        "reject_tools": [_tool(call) for call in options.disallowed],
    }


def _skills(options: Any, _: Stimulus) -> Options:
    return {
        "required_skills": list(options.required),
        "forbidden_skills": list(options.disallowed),
        "mode": "any_order",
    }


def _command(options: Any, _: Stimulus) -> Options:
    checked = ("stdout_contains", "stderr_contains", "stdout_matches", "stdout_not_matches")
    if unsupported := next((key for key in checked if getattr(options, key)), None):
        raise NoCounterpartError(f"`{unsupported}`")
    folder = (
        f'"$WAZA_WORKSPACE_DIR"/{shlex.quote(options.sub_path)}'
        if options.sub_path
        else '"$WAZA_WORKSPACE_DIR"'
    )
    command = shlex.join([options.command, *options.args]) if options.args else options.command
    variables = "".join(f"export {name}={shlex.quote(value)}; " for name, value in options.env.items())
    script = f"cd {folder} || exit 125; {variables}{command}"
    if options.expected_exit_code:
        script = f"({script}); test $? -eq {options.expected_exit_code}"
    limit = {"timeout": seconds_of(options.timeout)} if options.timeout else {}
    return {"command": "sh", "args": ["-c", script], **limit}


def seconds_of(duration: str) -> int:
    """Return a duration in whole seconds, rounded up, at least one."""
    return max(1, -(-int(milliseconds_of(duration) or 0) // 1000))


def _judge(options: Any, stimulus: Stimulus) -> Options:
    if unsupported := next((each for each in options.evidence if each != "trajectory"), None):
        raise NoCounterpartError(f"the evidence `{unsupported}`")
    words = [options.prompt] if options.prompt else []
    words += [f"- {criterion}" for criterion in stimulus.rubric]
    text = "\n".join(words) or "The answer does what the task asks, correctly and completely."
    judged = {"model": options.model} if options.model else {}
    judged |= {"reasoning_effort": options.reasoning_effort} if options.reasoning_effort else {}
    if options.scoring == "binary":
        end = "Call set_waza_grade_pass if all of this holds, else set_waza_grade_fail with your reason."
        return {"prompt": f"{text}\n\n{end}", **judged}
    return {
        "rubric": f"Rate from 1 to 5 how well the answer meets this:\n{text}",
        **judged,
        "threshold": options.threshold,
    }


def _no_more(key: str, options: Any, _: Stimulus) -> Options:
    limit = options.max if isinstance(options.max, int) else int(milliseconds_of(options.max) or 0)
    if not limit:
        raise NoCounterpartError("`max: 0`")
    return {key: limit}


def _few_calls(options: Any, _: Stimulus) -> Options:
    if options.tools:
        raise NoCounterpartError("`tools`")
    return {"max_calls": options.max}


def _assertions(written: Sequence[str], options: Any, _: Stimulus) -> Options:
    return {"assertions": [each.format(max=getattr(options, "max", 0)) for each in written]}


def _pair(
    name: str, ours: str, options: Callable[[bool, Any, Stimulus], Options], loss: str = ""
) -> dict[str, Counterpart]:
    where, _, verb = name.partition("-")
    return {
        name: Counterpart(ours, partial(options, False), loss),
        f"{where}-not-{verb}": Counterpart(ours, partial(options, True), loss),
    }


_PATTERNS = "patterns are RE2, else Python's: rare forms of JavaScript differ"
_ERRORS = "errors are those of the session"
_MISSING = "a path without `*` that is missing fails the `-not-` type as well"

COUNTERPARTS: Mapping[str, Counterpart] = {
    **_pair("output-contains", "text", _contains),
    **_pair("output-matches", "text", _matches, _PATTERNS),
    **_pair("transcript-contains", "code", _in_answers),
    **_pair("transcript-matches", "code", _found_in_answers, "patterns are Python's"),
    **_pair("file-exists", "file", _exists, "of globs, `[…]` and `!(…)` are plain text"),
    **_pair("file-contains", "file", _in_files, _MISSING),
    **_pair("file-matches", "file", _in_files, f"{_MISSING}; {_PATTERNS}"),
    "tool-calls": Counterpart(
        "tool_constraint",
        _tool_calls,
        "names, commands and paths ignore case; no `sequence`, `parallel`, "
        + ", ".join(f"`{key}`" for key in _UNSUPPORTED),
    ),
    "skill-invocation": Counterpart("skill_invocation", _skills),
    "run-command": Counterpart("program", _command, "needs `sh`; no checks of the output"),
    "prompt": Counterpart(
        "prompt",
        _judge,
        "the judge's words differ; always 1 to 5, or pass and fail; no other evidence",
        rates=True,
    ),
    "completed": Counterpart(
        "code",
        partial(_assertions, ("len(output.strip()) > 0", "len(errors) == 0")),
        "errors are those of the session",
    ),
    "exit-success": Counterpart("code", partial(_assertions, ("len(output.strip()) > 0",))),
    "token-budget": Counterpart("behavior", partial(_no_more, "max_tokens"), "no `max: 0`"),
    "tool-call-count": Counterpart("tool_calls", _few_calls, "no `tools`"),
    "turn-count": Counterpart(
        "tool_constraint",
        partial(_no_more, "max_turns"),
        "turns are those that the executor reports; no `max: 0`",
    ),
    "error-count": Counterpart(
        "code", partial(_assertions, ("len(errors) <= {max}",)), "errors are those of the session"
    ),
    "wall-time": Counterpart("behavior", partial(_no_more, "max_duration_ms"), "no `max: 0`"),
}
"""By Vally's grader type; the others have none."""
