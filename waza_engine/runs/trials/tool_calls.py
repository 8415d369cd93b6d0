"""A tool call of the agent in one line, for those who watch it work."""

from __future__ import annotations

import json

from waza_engine.vocabulary import ToolCall

_SHOWN_CHARACTERS = 160


def call_words(call: ToolCall) -> str:
    """Return the name of the tool and its arguments: ``⚙ bash npm test · Run the tests``."""
    given = " · ".join(_value(value) for value in call.arguments.values())
    line = " ".join(f"⚙ {call.name} {given}".split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[: 2 * _SHOWN_CHARACTERS]
