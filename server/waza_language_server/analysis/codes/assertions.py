"""The codes of assertions and patterns."""

from __future__ import annotations

from waza_language_server.analysis.codes.code import Code

_TASK = "id: t\nname: T\ninputs:\n  prompt: Go\ngraders:\n"
_HEAD = f"{_TASK}  - type: code\n    name: c\n    config:\n      assertions:\n"
_TEXT = f"{_TASK}  - type: text\n    name: c\n    config:\n      regex_match:\n"

ASSERTION_CODES = (
    Code(
        "assertion-syntax",
        "The assertion is no Python expression",
        "error",
        "An assertion that Python cannot read counts as failed in every trial.",
        _HEAD + "        - len(output > 20\n",
        _HEAD + "        - len(output) > 20\n",
    ),
    Code(
        "assertion-statement",
        "A statement stands where an expression is needed",
        "error",
        "Assertions are evaluated, not executed: `assert`, `return`, `import`, `x = …` and several lines "
        "are syntax errors there, and the assertion counts as failed in every trial.",
        _HEAD + "        - assert len(output) > 20\n",
        _HEAD + "        - len(output) > 20\n",
    ),
    Code(
        "assertion-javascript",
        "JavaScript in a Python assertion",
        "error",
        "`&&`, `||`, `!`, `===`, `=>` and `true` mean nothing in Python. A grader whose assertions are all "
        "JavaScript can say so with `language: javascript`.",
        _HEAD + "        - output.length > 20 && !errors.length\n",
        _HEAD + "        - len(output) > 20 and not len(errors)\n",
    ),
    Code(
        "assertion-unknown-name",
        "The assertion uses a name that does not exist",
        "error",
        "Assertions see `output`, `outcome`, `transcript`, `tool_calls`, `errors` and `duration_ms`, and "
        "can call `len`, `any`, `all`, `re`, `str`, `int`, `float`, `bool`, `list` and `dict`; Python's "
        "other functions and modules are not there. Any other name makes the assertion fail in every trial.",
        _HEAD + "        - len(outptu) > 20\n",
        _HEAD + "        - len(output) > 20\n",
    ),
    Code(
        "assertion-vanishing-name",
        "The name cannot be seen inside a nested scope",
        "error",
        "A generator expression or a lambda looks names up where the assertion's context is not: only its "
        "own variables and its first iterable work. List, set and dict comprehensions have the same problem "
        "up to Python 3.11. The assertion fails in every trial.",
        _HEAD + "        - any(word in output for word in ['deployed', 'created'])\n",
        _HEAD + "        - \"'deployed' in output or 'created' in output\"\n",
    ),
    Code(
        "assertion-attribute",
        "The value has no such attribute",
        "error",
        "Tool calls and events are dicts, whose values are read with `['name']`; text and lists have the "
        "methods of Python. Anything else raises an error, and the assertion counts as failed.",
        _HEAD + "        - any(call.name == 'bash' for call in tool_calls)\n",
        _HEAD + "        - any(call['name'] == 'bash' for call in tool_calls)\n",
    ),
    Code(
        "assertion-key",
        "The value has no such key",
        "warning",
        "A tool call has the keys `name`, `arguments`, `success`, `id` and maybe `result`; `outcome` is "
        "empty in current runs. Reading another key raises an error, and the assertion counts as failed.",
        _HEAD + "        - tool_calls[0]['tool'] == 'bash'\n",
        _HEAD + "        - tool_calls[0]['name'] == 'bash'\n",
    ),
    Code(
        "assertion-uncalled",
        "The method is not called",
        "error",
        "A method by itself is always true, and comparing with it fails: what was meant is what it returns.",
        _HEAD + "        - \"'done' in output.lower\"\n",
        _HEAD + "        - \"'done' in output.lower()\"\n",
    ),
    Code(
        "assertion-type",
        "The values do not fit what is done with them",
        "error",
        "Text has no order with numbers, nothing can be in a number, and `re.search` reads text alone: such "
        "an operation raises an error, and the assertion counts as failed in every trial.",
        _HEAD + "        - output > 20\n",
        _HEAD + "        - len(output) > 20\n",
    ),
    Code(
        "assertion-internal",
        "This engine refuses the attribute",
        "warning",
        "Through such attributes an assertion would reach into Python itself. This engine refuses them; "
        "upstream, whose assertions are no sandbox, evaluates them.",
        _HEAD + "        - output.__class__.__mro__[0] == str\n",
        _HEAD + "        - output.__class__ == str\n",
        "What was meant to be read this way is for the author to say.",
    ),
    Code(
        "assertion-constant",
        "A part of the assertion is always the same",
        "warning",
        "A text by itself is always true, so `'a' or 'b' in output` passes whatever the agent says; a length "
        "is never negative. Such a part checks nothing.",
        _HEAD + "        - \"'deployed' or 'created' in output\"\n",
        _HEAD + "        - \"'deployed' in output or 'created' in output\"\n",
    ),
    Code(
        "assertion-case",
        "The text can never match in upper and lower case",
        "warning",
        "After `.lower()` no capital letter is left, so a text with one is never found there.",
        _HEAD + "        - \"'POST' in output.lower()\"\n",
        _HEAD + "        - \"'post' in output.lower()\"\n",
    ),
    Code(
        "javascript-grader",
        "All assertions of the grader are JavaScript",
        "information",
        "Without `language: javascript` they are read as Python, and every one of them fails.",
        _HEAD + "        - output.length > 20 && true\n        - output === 'done'\n",
        _HEAD
        + "        - output.length > 20 && true\n        - output === 'done'\n      language: javascript\n",
    ),
    Code(
        "invalid-pattern",
        "The regular expression is invalid",
        "error",
        "A pattern that cannot be read is a failed check in every trial, for forbidden patterns too.",
        _TEXT + "        - 'deployed (to|at'\n",
        _TEXT + "        - 'deployed (to|at)'\n",
    ),
    Code(
        "pattern-not-portable",
        "Only this engine understands the pattern",
        "hint",
        "Patterns are RE2, as upstream runs them. Look-around, back-references and a few other constructs "
        "work here, within a time limit, but make upstream's grader fail.",
        _TEXT + "        - 'done\\Z'\n",
        _TEXT + "        - 'done\\z'\n",
    ),
    Code(
        "slow-pattern",
        "Refusing a text takes too long",
        "warning",
        "A pattern that RE2 refuses is searched by Python, which tries all the ways to cut a text: a repeat "
        "of a repeat, such as `(a+)+$`, doubles them with each character, and the grader ends by its "
        "deadline instead of a verdict. RE2 has no such patterns.",
        _TEXT + "        - '(?<!x)(a+)+$'\n",
        _TEXT + "        - '(?<!x)a+$'\n",
        "Which repeat is meant is not known.",
    ),
)
