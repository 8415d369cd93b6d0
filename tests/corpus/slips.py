"""Slips of the pen, one kind each: a text in, the same with one slip and where it is, or None."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

KEY = re.compile(r"^([ ]*(?:- )?)([A-Za-z_]\w*):(?:[ ]+(.*))?$")


@dataclass(frozen=True, slots=True)
class Slipped:
    """A text with one slip, and the line (0-based) that it is in."""

    text: str
    line: int


Slip = Callable[[str, random.Random], "Slipped | None"]


def _changed(pattern: str, replacement: str, flags: int = re.MULTILINE) -> Slip:
    compiled = re.compile(pattern, flags)

    def slip(text: str, chance: random.Random) -> Slipped | None:
        found = [match for match in compiled.finditer(text) if not _is_comment(text, match.start())]
        if not found:
            return None
        match = chance.choice(found)
        changed = text[: match.start()] + match.expand(replacement) + text[match.end() :]
        return Slipped(changed, text.count("\n", 0, match.start()))

    return slip


def _is_comment(text: str, offset: int) -> bool:
    return text[text.rfind("\n", 0, offset) + 1 : offset + 1].lstrip().startswith("#")


def _misspelt(names: str) -> Slip:
    words = names.split()

    def slip(text: str, chance: random.Random) -> Slipped | None:
        lines = text.split("\n")
        places = [at for at, line in enumerate(lines) if (m := KEY.match(line)) and m[2] in words]
        if not places:
            return None
        at = chance.choice(places)
        match = KEY.match(lines[at])
        assert match is not None
        word = match[2]
        middle = chance.randrange(1, len(word) - 1)
        wrong = word[:middle] + word[middle + 1 :]
        lines[at] = lines[at].replace(word, wrong, 1)
        return Slipped("\n".join(lines), at)

    return slip


def _repeated(names: str) -> Slip:
    words = names.split()

    def slip(text: str, chance: random.Random) -> Slipped | None:
        lines = text.split("\n")
        places = [
            at
            for at, line in enumerate(lines)
            if (m := KEY.match(line)) and m[2] in words and m[3] and "-" not in m[1]
        ]
        if not places:
            return None
        at = chance.choice(places)
        lines.insert(at + 1, lines[at])
        return Slipped("\n".join(lines), at + 1)

    return slip


def _moved(pattern: str, by: int, *, below: bool = True, itself: bool = True) -> Slip:
    """Return the slip that moves a line, what stands further to the right below it, or both by some columns.

    Of a list that has one item alone the column says nothing.
    """
    compiled = re.compile(pattern)

    def slip(text: str, chance: random.Random) -> Slipped | None:
        lines = text.split("\n")
        places = [at for at, line in enumerate(lines) if compiled.match(line)]
        chance.shuffle(places)
        for at in places:
            last = at
            for row in range(at + 1, len(lines)):
                if lines[row].strip() and _column(lines[row]) <= _column(lines[at]):
                    break
                last = row if lines[row].strip() else last
            first = at if itself else at + 1
            rows = range(first, (last if below else at) + 1)
            has_room = all(not lines[row][: max(-by, 0)].strip() for row in rows)
            if not rows or not has_room or (itself and _is_alone(lines, at, last)):
                continue
            for row in rows:
                if lines[row].strip():
                    lines[row] = " " * by + lines[row] if by > 0 else lines[row][-by:]
            return Slipped("\n".join(lines), first)
        return None

    return slip


def _is_alone(lines: list[str], first: int, last: int) -> bool:
    """Whether an item is the only one of its list; nothing else is."""
    column = _column(lines[first])
    above = next((line for line in lines[:first][::-1] if line.strip() and _column(line) <= column), "")
    below = next((line for line in lines[last + 1 :] if line.strip()), "")
    dash = " " * column + "- "
    return lines[first].startswith(dash) and not above.startswith(dash) and not below.startswith(dash)


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


_ASSERTION = r"^( +- )[\"']?len\(output\) > (\d+)[\"']?$"

SLIPS: Mapping[str, Slip] = {
    "a letter left out of a key of the file": _misspelt("skill tasks config graders inputs expected"),
    "a letter left out of an option of the run": _misspelt(
        "trials_per_task timeout_seconds executor model parallel"
    ),
    "a letter left out of a key of a task": _misspelt(
        "prompt output_contains output_not_contains should_trigger"
    ),
    "a letter left out of an option of a grader": _misspelt(
        "regex_match regex_not_match contains not_contains assertions max_tool_calls required_skills"
    ),
    "`timeout` for `timeout_seconds`": _changed(r"^( +)timeout_seconds:", r"\1timeout:"),
    "camel case in a key": _changed(r"^( +)trials_per_task:", r"\1trialsPerTask:"),
    "camel case in the lists of a trigger file": _changed(
        r"^should_trigger_prompts:", "shouldTriggerPrompts:"
    ),
    "a name of another dialect": _changed(r"^( +)output_not_contains:", r"\1output_excludes:"),
    "`not_regex_match`": _changed(r"^( +)regex_not_match:", r"\1not_regex_match:"),
    "an old grader type": _changed(r"type: text\b", "type: regex"),
    "a grader type with a letter left out": _changed(r"type: behavior\b", "type: behavor"),
    "a grader without a type": _changed(r"^( +)- type: text\n +name:", r"\1- name:"),
    "an unknown executor": _changed(r"executor: (copilot-sdk|mock)$", "executor: copilot"),
    "text for a number": _changed(r"trials_per_task: \d+$", "trials_per_task: many"),
    "a number below its limit": _changed(r"trials_per_task: \d+$", "trials_per_task: 0"),
    "a negative number": _changed(r"timeout_seconds: (\d+)$", r"timeout_seconds: -\1"),
    "a number in quotes": _changed(r"timeout_seconds: (\d+)$", r"timeout_seconds: '\1'"),
    "a threshold in percent": _changed(r"threshold: 0\.(\d)\d*$", r"threshold: \g<1>0"),
    "a word for a switch": _changed(r"should_trigger: (true|false)$", "should_trigger: maybe"),
    "a list as one text": _changed(r"^( +)tasks/\*\.yaml$|^tasks:\n +- (.*)$", r"tasks: \2"),
    "a tab for spaces": _changed(r"^  (?=(prompt|executor|model):)", "\t"),
    "a line one space too far": _changed(r"^  (?=(executor|model|timeout_seconds):)", "   "),
    "no blank behind the dash": _changed(r"^( +)- (?=(type|prompt|name): )", r"\1-"),
    "no blank behind the colon": _changed(r"^( +)(executor|model): ", r"\1\2:"),
    "a key twice": _repeated("timeout_seconds executor model name skill"),
    "a quote that is never closed": _changed(r": \"([^\"\n]+)\"$", r': "\1'),
    "a bracket that is never closed": _changed(r": \[([^\[\]\n]+)\]$", r": [\1"),
    "a colon in text without quotes": _changed(r"^(description|name): ([A-Za-z]\w+) ", r"\1: \2: "),
    "a wrong escape": _changed(r"^( +- )[\"']([a-z]+)[\"']$", r'\1"\2\\.md"'),
    "an unclosed group in a pattern": _changed(r"(regex_(?:not_)?match:\n +- [\"'])(\(\?i\))?", r"\1\2("),
    "a second document": _changed(r"^(graders|tags|expected):", r"---\n\1:"),
    "`.length` in an assertion": _changed(_ASSERTION, r"\1output.length > \2"),
    "`&&` in an assertion": _changed(_ASSERTION, r"\1len(output) > \2 && not errors"),
    "a misspelt name in an assertion": _changed(_ASSERTION, r"\1len(outptu) > \2"),
    "a missing bracket in an assertion": _changed(_ASSERTION, r"\1len(output > \2"),
    "`assert` in an assertion": _changed(_ASSERTION, r"\1assert len(output) > \2"),
    "a method that is not called": _changed(r"output\.lower\(\)", "output.lower"),
    "a misspelt method": _changed(r"output\.lower\(\)", "output.lowr()"),
    "a capital letter behind `.lower()`": _changed(
        r"'([a-z])(\w+)' in output\.lower\(\)", r"'X\2' in output.lower()"
    ),
    "a number with its unit": _changed(r"timeout_seconds: (\d+)$", r"timeout_seconds: \1s"),
    "a decimal comma": _changed(r"threshold: (\d)\.(\d+)$", r"threshold: \1,\2"),
    "a misspelt switch": _changed(r"(should_trigger|parallel): (t|f)(.)(.)", r"\1: \2\4\3"),
    "a list that lacks its dash": _changed(r"^(  outcomes:\n +)- (?=type:)", r"\1  "),
    "a single value in a list": _changed(r"^( +)(executor|model): (\S+)$", r"\1\2: [\3]"),
    "`timeout_ms` for `timeout_seconds`": _changed(r"timeout_seconds: (\d+)$", r"timeout_ms: \g<1>000"),
    "a colon left out": _changed(r"^( +(?:executor|model|timeout_seconds)): ", r"\1 "),
    "`type` among the options": _changed(
        r"^( +)type: (\w+)\n( +name: .*\n)?\1config:\n", r"\3\1config:\n\1  type: \2\n"
    ),
    "a list with commas alone": _changed(r"^tags:\n  - ([\w-]+)\n  - ([\w-]+)\n(?!  - )", r"tags: \1, \2\n"),
    "the other quote at the end": _changed(r": \"([^\"'\n\\]+)\"$", ": \"\\1'"),
    "options of a run at the top": _changed(
        r"^config:\n  (\w+: \S+)\n  (\w+: \S+)\n  (\w+: \S+)\n  (\w+: \S+)\n(?! )", r"\1\n\2\n\3\n\4\n"
    ),
    "a single key for a list of prompts": _changed(r"^(  )prompt: (?=\S)(?![|>])", r"\1prompts: "),
    "graders under `expected`": _changed(
        r"^expected:\n", "expected:\n  graders:\n    - {type: text, name: g, config: {contains: [a]}}\n"
    ),
    "an item one column too far to the right": _moved(r" *- (?:type|name): \w", 1),
    "the body of an item two columns too far to the left": _moved(r" +- (?:type|name): \w", -2, itself=False),
    "the body of an item at the margin or near it": _moved(r" {2,}- (?:type|name): \w", -4, itself=False),
    "the options of a grader two columns too far to the left": _moved(r" {4,}config:$", -2, itself=False),
    "a block pushed below the one above": _moved(r"(?:expected|graders|tasks|metrics):$", 2),
    "the line of a block alone too far to the right": _moved(r"(?:expected|graders|tasks):$", 2, below=False),
    "a block at the column of the key that holds it": _moved(
        r"(?:config|inputs|expected):$", -2, itself=False
    ),
    "a key too far to the right behind a list": _changed(
        r"^( +)- ([^\n:]+)\n(?=(?:expected|tasks|graders|tags|metrics):$)", r"\1- \2\n  "
    ),
    "a dash at the column of its keys": _changed(r"^( +)- (?=type: \w+\n\1  \w)", r"\1  - "),
    "the mark of a merge": _changed(r"^( +)(executor|model|type): (\S+)$", r"\1\2: \3\n>>>>>>> main"),
    "the options of the run under another name": _changed(r"^config:\n(?=  \w)", "settings:\n"),
    "a copied grader with its old type": _changed(
        r"^( +)- type: text\n(?=\1  name: .*\n\1  config:\n\1    (?:not_)?contains:)", r"\1- type: code\n"
    ),
    "a text in quotes without its dash": _changed(
        r"^( +)- (\"[^\"\n]+\")\n\1- (\"[^\"\n]+\")$", r"\1- \2\n\1  \3"
    ),
    "a variable for a model": _changed(r"^( +)model: \S+$", r"\1model: ${MODEL}"),
    "`output_contains_all`": _changed(r"^( +)output_contains:", r"\1output_contains_all:"),
    "`should_not_trigger`": _changed(r"should_trigger: false$", "should_not_trigger: true"),
    "`input` for `prompt`": _changed(r"^(  )prompt:", r"\1input:"),
    "`or` between texts before one `in`": _changed(
        r"'([a-z]\w+)' in output\.lower\(\)", r"('\1' or 'other') in output.lower()"
    ),
}
