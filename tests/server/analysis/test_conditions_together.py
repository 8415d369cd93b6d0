"""What is said of conditions beside each other is so for every answer."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from waza_language_server.embedded.python.findings import assertion_findings

_ANSWERS = ["".join(letters) for length in range(5) for letters in product("ab", repeat=length)]
_OPERATORS = ("<", "<=", ">", ">=", "==", "!=")


def _condition(random: Random) -> str:
    number, text = random.randrange(5), random.choice(("a", "b", "ab", "aab", ""))
    operator = random.choice(_OPERATORS)
    of_number = random.choice(("len(output)", "output.count('a')", "output.find('b')"))
    condition = random.choice(
        (
            f"{of_number} {operator} {number}",
            f"{number} {operator} {of_number}",
            f"{number} < {of_number} {operator} {random.randrange(5)}",
            f"output {random.choice(('==', '!='))} '{text}'",
            f"output.{random.choice(('startswith', 'endswith'))}('{text}')",
            f"'{text}' {random.choice(('in', 'not in'))} output",
            "output",
        )
    )
    return f"not ({condition})" if random.random() < 0.3 else condition


@pytest.mark.parametrize("word", ["and", "or"])
def test_what_is_called_always_or_never_true_is(word: str) -> None:
    random, told = Random(7), 0
    for _ in range(1_000):
        text = f" {word} ".join(_condition(random) for _ in range(random.choice((2, 2, 3))))
        outcomes = {bool(eval(text, {"output": answer})) for answer in _ANSWERS}
        for finding in assertion_findings(text)[0]:
            if word == "and" and "together with" in finding.message:
                assert outcomes == {False}, text
                told += 1
            elif word == "or" and "so this is always true" in finding.message:
                assert outcomes == {True}, text
                told += 1
    assert told > 30
