"""The codes of the files of agent-eval-harness."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_MAPPING = (
    '{"match": {"path": "$.type", "value": "text"}, "emitAs": "message", "extract": {"content": "$.text"}}'
)
_ADAPTER = """{
  "version": 1,
  "name": "agent",
  "command": ["agent"],
  "sessionMode": "stream",
  "prompt": {"flag": "-p"},
  "output": {"flag": "--format", "value": "json"},
  "outputEvents": [
    EVENTS
  ],
  "result": {"matchPath": "$.type", "matchValue": "result", "contentPath": "$.text"}
}
"""

HARNESS_CODES = (
    Code(
        "whitespace-line",
        "Line of whitespace between prompts",
        "warning",
        "A run skips the line. agent-eval-harness skips empty lines alone, and refuses the file.",
        '{"id": "a", "input": "Greet me"}\n  \n{"id": "b", "input": "Thank me"}\n',
        '{"id": "a", "input": "Greet me"}\n\n{"id": "b", "input": "Thank me"}\n',
        kind="prompts",
    ),
    Code(
        "unreachable-mapping",
        "Event mapping without effect",
        "warning",
        "The first mapping that matches an event of the agent ends the search, unless `event_matching` in "
        "`x-waza` is `all`. A later one for the same path and value, or after one for `*`, never counts.",
        _ADAPTER.replace("EVENTS", f"{_MAPPING},\n    {_MAPPING.replace('message', 'thought')}"),
        _ADAPTER.replace("EVENTS", _MAPPING),
        kind="adapter",
    ),
)
