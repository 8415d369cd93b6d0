"""Search for assertions on which the interpreter and Python's `eval` differ.

``python -m tests.engine.assertions.search --count 20000 --seed 1`` ends with 1 when it has found one. It
needs nothing but Python, so that every version can be searched.
"""

import argparse
import platform
import sys
from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.engine.assertions.generators import CONTEXT, GENERATORS
from tests.engine.assertions.oracle import by_python, differences

LONGEST = 600


def search(count: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Return the differences in so many groups of assertions, in words, and how many passed and failed."""
    random, found, seen = Random(seed), list[str](), Counter[str]()
    for number in range(count):
        name = [*GENERATORS][number % len(GENERATORS)]
        group = GENERATORS[name](random)
        if max(map(len, group)) > LONGEST:
            continue
        for text, python, ours in differences(group, CONTEXT):
            found.append(f"{name}: {group!r}\n  {text}\n  eval        {python}\n  interpreter {ours}")
        if number % 49 == 0:
            first = next(by_python(group, CONTEXT))
            seen[f"{name}: {'passed' if first.passed else first.error or 'false'}"] += 1
    return found, seen


def main(arguments: Sequence[str] | None = None) -> int:
    """Search, print what was found, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=20, help="how many differences are printed")
    options = parser.parse_args(arguments)
    found, seen = search(options.count, options.seed)
    summary = f"Python {platform.python_version()}: {options.count:,} groups, {len(found)} differences"
    lines = [*found[: options.most], f"one group in 49: {dict(sorted(seen.items()))}", summary]
    sys.stdout.write("\n".join(lines) + "\n")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
