"""The codes of assertions and patterns."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_TASK = "id: t\nname: T\ninputs:\n  prompt: Go\ngraders:\n"
_HEAD = f"{_TASK}  - type: code\n    name: c\n    config:\n      assertions:\n"
_TEXT = f"{_TASK}  - type: text\n    name: c\n    config:\n      regex_match:\n"

ASSERTION_CODES = (
    Code(
        "assertion-syntax",
        "Assertion is not a Python expression",
        "error",
        "An assertion with a syntax error fails in every trial.",
        _HEAD + "        - len(output > 20\n",
        _HEAD + "        - len(output) > 20\n",
    ),
    Code(
        "assertion-statement",
        "Statement instead of an expression",
        "error",
        "Assertions are expressions: `assert`, `return`, `import`, `x = …` and several lines are syntax "
        "errors, and the assertion fails in every trial.",
        _HEAD + "        - assert len(output) > 20\n",
        _HEAD + "        - len(output) > 20\n",
    ),
    Code(
        "assertion-javascript",
        "JavaScript in a Python assertion",
        "error",
        "`&&`, `||`, `!`, `===`, `=>` and `true` are not Python. If all assertions of a grader are "
        "JavaScript, add `language: javascript`.",
        _HEAD + "        - output.length > 20 && !errors.length\n",
        _HEAD + "        - len(output) > 20 and not len(errors)\n",
    ),
    Code(
        "assertion-unknown-name",
        "Undefined name in an assertion",
        "error",
        "Assertions see `output`, `outcome`, `transcript`, `tool_calls`, `errors` and `duration_ms`, and "
        "can call `len`, `any`, `all`, `re`, `str`, `int`, `float`, `bool`, `list` and `dict`. With any "
        "other name, including Python's other functions and modules, the assertion fails in every trial.",
        _HEAD + "        - len(outptu) > 20\n",
        _HEAD + "        - len(output) > 20\n",
    ),
    Code(
        "assertion-vanishing-name",
        "Name not visible in a nested scope",
        "error",
        "A generator expression or a lambda cannot see the names of the assertion: only its own variables "
        "and its first iterable work. Up to Python 3.11, list, set and dict comprehensions have the same "
        "limitation. The assertion fails in every trial.",
        _HEAD + "        - any(word in output for word in ['deployed', 'created'])\n",
        _HEAD + "        - \"'deployed' in output or 'created' in output\"\n",
    ),
    Code(
        "assertion-attribute",
        "Unknown attribute",
        "error",
        "Tool calls and events are dicts: read their values with `['name']`. Strings and lists have Python's "
        "methods. Any other attribute raises an error, and the assertion fails.",
        _HEAD + "        - any(call.name == 'bash' for call in tool_calls)\n",
        _HEAD + "        - any(call['name'] == 'bash' for call in tool_calls)\n",
    ),
    Code(
        "assertion-key",
        "Unknown dictionary key",
        "warning",
        "A tool call has the keys `name`, `arguments`, `success`, `id` and maybe `result`; `outcome` is "
        "empty in current runs. Any other key raises an error, and the assertion fails.",
        _HEAD + "        - tool_calls[0]['tool'] == 'bash'\n",
        _HEAD + "        - tool_calls[0]['name'] == 'bash'\n",
    ),
    Code(
        "assertion-uncalled",
        "Method is not called",
        "error",
        "A method without parentheses is always true, and a comparison with it fails.",
        _HEAD + "        - \"'done' in output.lower\"\n",
        _HEAD + "        - \"'done' in output.lower()\"\n",
    ),
    Code(
        "assertion-type",
        "Operation on incompatible types",
        "error",
        "A string cannot be compared with a number, nothing is `in` a number, and `re.search` accepts only "
        "strings: the operation raises an error, and the assertion fails in every trial.",
        _HEAD + "        - output > 20\n",
        _HEAD + "        - len(output) > 20\n",
    ),
    Code(
        "assertion-internal",
        "Attribute refused by this engine",
        "warning",
        "Such attributes would give an assertion access to Python's internals. This engine refuses them; "
        "upstream, which has no sandbox for assertions, evaluates them.",
        _HEAD + "        - output.__class__.__mro__[0] == str\n",
        _HEAD + "        - output.__class__ == str\n",
        "Only the author knows which value is intended.",
    ),
    Code(
        "assertion-constant",
        "Part of the assertion is constant",
        "warning",
        "A non-empty string is always true, so `'a' or 'b' in output` passes for every answer; a length is "
        "never negative. A constant part checks nothing.",
        _HEAD + "        - \"'deployed' or 'created' in output\"\n",
        _HEAD + "        - \"'deployed' in output or 'created' in output\"\n",
    ),
    Code(
        "assertion-case",
        "String can never match because of its case",
        "warning",
        "After `.lower()` there are no capital letters, so a string with one never matches.",
        _HEAD + "        - \"'POST' in output.lower()\"\n",
        _HEAD + "        - \"'post' in output.lower()\"\n",
    ),
    Code(
        "javascript-grader",
        "JavaScript assertions without `language: javascript`",
        "information",
        "Without `language: javascript` the assertions are evaluated as Python, and each of them fails.",
        _HEAD + "        - output.length > 20 && true\n        - output === 'done'\n",
        _HEAD
        + "        - output.length > 20 && true\n        - output === 'done'\n      language: javascript\n",
    ),
    Code(
        "invalid-pattern",
        "Invalid regular expression",
        "error",
        "A check with an invalid pattern fails in every trial, even for forbidden patterns.",
        _TEXT + "        - 'deployed (to|at'\n",
        _TEXT + "        - 'deployed (to|at)'\n",
    ),
    Code(
        "pattern-not-portable",
        "Pattern that upstream does not support",
        "hint",
        "Upstream uses RE2. Look-around, back-references and a few other constructs work here, within a time "
        "limit, but make upstream's grader fail.",
        _TEXT + "        - 'done\\Z'\n",
        _TEXT + "        - 'done\\z'\n",
    ),
    Code(
        "slow-pattern",
        "Pattern with exponential run time",
        "warning",
        "A pattern that RE2 does not support is searched with backtracking: nested quantifiers such as "
        "`(a+)+$` double the time with each character, and the grader ends with a timeout instead of a "
        "verdict. RE2 has no such patterns.",
        _TEXT + "        - '(?<!x)(a+)+$'\n",
        _TEXT + "        - '(?<!x)a+$'\n",
        "Only the author knows which quantifier is intended.",
    ),
)
