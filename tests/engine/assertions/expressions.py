"""The expressions of the assertion language and what they give.

``TRUE`` and ``FALSE`` are values that count as such; other outcomes are the words of the error. Where Python
before 3.12 and from 3.12 on differ, both outcomes are given.
"""

import sys
from typing import Any

INLINED_COMPREHENSIONS = sys.version_info >= (3, 12)

CONTEXT: dict[str, Any] = {
    "output": "Deployed to Azure: https://x 42",
    "outcome": {},
    "transcript": [
        {"type": "user.message"},
        {"type": "tool.start"},
        {"type": "tool.end"},
        {"type": "assistant.message"},
    ],
    "tool_calls": [
        {"name": "bash", "arguments": {"command": "ls -la"}, "success": True, "result": {"content": "ok"}},
        {"name": "edit", "arguments": {"command": ""}, "success": False},
    ],
    "errors": [],
    "duration_ms": 1500,
}

TRUE, FALSE = "true", "false"


def hidden(name: str) -> str:
    return f"`{name}` is not visible inside a comprehension"


def unknown(name: str) -> str:
    return f"the name `{name}` does not exist here"


def by_version(before: str, since: str) -> str:
    return since if INLINED_COMPREHENSIONS else before


SYNTAX = "not a Python expression"

_BUILT_INS = (
    "sorted set tuple max min sum abs round isinstance type range enumerate zip map filter hasattr getattr"
    " print open"
)
EXPRESSIONS: list[tuple[str, str]] = [
    ("len(output) > 0", TRUE),
    ("'azure' in output.lower() or 'deploy' in output.lower()", TRUE),
    ("any(k in output for k in ['Azure','deploy'])", hidden("output")),
    ("all(k in output.lower() for k in ['azure','https'])", hidden("output")),
    ("any(c.isdigit() for c in output)", TRUE),
    ("any(t['name'] == 'bash' for t in tool_calls)", TRUE),
    ("all(t['success'] for t in tool_calls)", FALSE),
    ("any('ls' in t['arguments']['command'] for t in tool_calls)", TRUE),
    ("all(len(t['name']) > 2 for t in tool_calls)", hidden("len")),
    ("any(re.search(p, output) for p in ['https'])", hidden("re")),
    ("any(str(t).find('bash') >= 0 for t in tool_calls)", hidden("str")),
    ("any(k in output for k in [output])", hidden("output")),
    ("any(k in o for o in [output] for k in ['Azure'])", TRUE),
    ("any(k in output for output in [output] for k in ['Azure'])", TRUE),
    ("[t['name'] for t in tool_calls] == ['bash','edit']", TRUE),
    ("[k for k in ['a','b'] if k in output]", by_version(hidden("output"), FALSE)),
    ("[t for t in tool_calls if len(t['name']) > 3]", by_version(hidden("len"), TRUE)),
    ("any([k in output for k in ['Azure','x']])", by_version(hidden("output"), TRUE)),
    ("len([t for t in tool_calls if t['name'] == 'bash']) >= 1", TRUE),
    ("len([t for t in transcript if 'error' in str(t)]) == 0", by_version(hidden("str"), TRUE)),
    ("{t['name'] for t in tool_calls} == {'bash','edit'}", TRUE),
    ("{t['name']: len(t) for t in tool_calls}", by_version(hidden("len"), TRUE)),
    ("(lambda s: 'Azure' in s)(output)", TRUE),
    ("(lambda: 'Azure' in output)()", hidden("output")),
    ("(lambda o=output: 'Azure' in o)()", TRUE),
    *((f"{name}(output)", unknown(name)) for name in _BUILT_INS.split()),
    ("next(iter(output))", unknown("next")),
    ("__import__('os')", unknown("__import__")),
    ("json.loads(output)", unknown("json")),
    ("import json", SYNTAX),
    ("n = 3", SYNTAX),
    ("assert len(output) > 0", SYNTAX),
    ("output ==", SYNTAX),
    ("output\nTrue", SYNTAX),
    ("re.search(r'https?://', output)", TRUE),
    ("re.search(r'azure', output, re.I) is not None", TRUE),
    (r"len(re.findall(r'\d+', output)) >= 1", TRUE),
    ("re.search('nomatch', output).group() == 'x'", "AttributeError: 'NoneType' object"),
    ("re.search('x(?i)', output)", "global flags not at the start"),
    ("f'{duration_ms}' == '1500'", TRUE),
    ("(n := len(output)) > 3", TRUE),
    ("[z := k for k in ['q']]", TRUE),
    ("z == 'q'", unknown("z")),
    ("true", unknown("true")),
    ("null", unknown("null")),
    ("output && errors", SYNTAX),
    ("!errors", SYNTAX),
    ("output === 'a'", SYNTAX),
    ("output.length > 3", "AttributeError: 'str' object has no attribute 'length'"),
    ("output.includes('x')", "AttributeError: 'str' object has no attribute 'includes'"),
    ("tool_calls[0].name == 'bash'", "AttributeError: 'dict' object has no attribute 'name'"),
    ("tool_calls[5]['name'] == 'x'", "IndexError: list index out of range"),
    ("tool_calls[1]['result']['content']", "KeyError: 'result'"),
    ("tool_calls[0]['arguments'].get('command','').startswith('ls')", TRUE),
    ("outcome['status'] == 'completed'", "KeyError: 'status'"),
    ("outcome.get('status') == 'completed'", FALSE),
    ("not errors", TRUE),
    ("errors == []", TRUE),
    ("len(errors) == 0", TRUE),
    ("output.startswith(('Dep','X'))", TRUE),
    ("'{}'.format(len(output))", TRUE),
    ("'%s' % output", TRUE),
    ("'zzz' or 'yyy' in output", TRUE),
    ("'fail'", TRUE),
    ("[0]", TRUE),
    ("...", TRUE),
    ("output.lower", TRUE),
    ("0", FALSE),
    ("''", FALSE),
    ("[]", FALSE),
    ("None", FALSE),
    ("unknown_var > 1", unknown("unknown_var")),
    ("1/0", "ZeroDivisionError: division by zero"),
    ("int('x')", "ValueError: invalid literal"),
    ("'x' in 5", "TypeError: argument of type 'int'"),
    ("output['x']", "TypeError: string ind"),
    ("[].__iter__().__next__()", "StopIteration"),
    ("output.__class__ is str", TRUE),
    ("{*output.split()} != {*()}", TRUE),
    ("(*[1,2],) == (1,2)", TRUE),
    ("list(t for t in tool_calls)", TRUE),
    ("[[k in o for k in ['Azure']] for o in [output]]", TRUE),
    ("().__class__.__base__.__subclasses__()", "the attribute `__subclasses__` is not allowed"),
    (" len(output) > 0 # note", TRUE),
]
