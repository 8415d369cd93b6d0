"""Errors of command-line arguments, in the wording of all other messages.

The command-line library and those below it have their own wording.

Architecture invariant: light, as ``terminal`` is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_CHOICES = re.compile(r"'([^']*)'")
_NAMES = re.compile(r"'([^']+)'")
_OPTION = re.compile(r"--?[\w-]+")


def argument_words(message: str) -> str | None:
    """Return an argument error in one sentence, None for other messages of the library."""
    for pattern, words in _SENTENCES.items():
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return words(found)
    return None


def _invalid(found: re.Match[str]) -> str:
    # An option has its short name first; its long one is more descriptive.
    name = (_NAMES.findall(found[1]) or [found[1]])[-1]
    for pattern, words in _VALUES.items():
        if wrong := re.fullmatch(pattern, found[2], re.DOTALL):
            return f"`{name}` {words(wrong)}."
    return f"`{name}`: {found[2]}"


def _not_a_choice(found: re.Match[str]) -> str:
    known = ", ".join(f"`{choice}`" for choice in _CHOICES.findall(found[2]))
    return f"is `{found[1]}`, which is not one of {known}"


def _unknown_option(found: re.Match[str]) -> str:
    meant = " or ".join(f"`{name}`" for name in _OPTION.findall(found[2] or ""))
    return f"There is no option `{found[1]}`{f'; did you mean {meant}?' if meant else '.'}"


def _unknown_command(found: re.Match[str]) -> str:
    meant = " or ".join(f"`{name}`" for name in _CHOICES.findall(found[2] or ""))
    return f"There is no command `{found[1]}`{f'; did you mean {meant}?' if meant else '.'}"


_Words = Callable[[re.Match[str]], str]
_VALUES: Mapping[str, _Words] = {
    r".*unable to parse string as an integer": lambda _: "must be a whole number",
    r".*unable to parse string as a number": lambda _: "must be a number",
    r".*greater than or equal to (\S+)": lambda found: f"must be {_plain(found[1])} or more",
    r".*less than or equal to (\S+)": lambda found: f"must be {_plain(found[1])} or less",
    r"is blank; (.*)": lambda found: f"is blank; {found[1]}",
    r".*a finite number": lambda _: "must be a finite number",
    r"'(.*)' is not one of (.*)\.": _not_a_choice,
}
_SENTENCES: Mapping[str, _Words] = {
    r"Invalid value for (.*?): (?:Value error, )?(.*)": _invalid,
    r"Missing (?:argument|option) '?([^'.]*)'?\..*": lambda found: f"`{found[1]}` is missing.",
    r"No such option: (\S+)(.*)": _unknown_option,
    r"No such command '(.*?)'\.?(.*)": _unknown_command,
    r"Option '(.*)' does not take a value\.": lambda found: f"`{found[1]}` takes no value.",
    r"Option '(.*)' requires an argument\.": lambda found: f"`{found[1]}` needs a value.",
    r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)": lambda found: f"`{found[1]}` is too much here.",
}


def _plain(number: str) -> str:
    return number.removesuffix(".0")
