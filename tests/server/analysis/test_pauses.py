"""The work for a document grows with its length, and no faster."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document

pytestmark = pytest.mark.check

HEAD = "name: s\nskill: s\ntasks: [t]\ngraders:\n  - type: text\n    name: a\n"


def long_texts(size: int) -> dict[str, str]:
    """Return texts of about so many lines that are wrong, or odd, in each of them."""
    return {
        "duplicate keys": HEAD + "tags: a\n" * size,
        "one mapping": HEAD + "inputs:\n" + "".join(f"  k{number}: a\n" for number in range(size)),
        "old Mac line breaks": (HEAD + "inputs:\n" + "  k: a\n" * size).replace("\n", "\r"),
        "graders of one name": HEAD + "  - type: text\n    name: a\n" * (size // 4),
        "lines of colons": HEAD + ":\n" * (2 * size),
        "open quotes": HEAD + "  - type: text\n    name: 'b\n" * (size // 4),
        "aliases": HEAD + "inputs:\n  a: &a [x, y]\n" + "".join(f"  k{at}: [*a, b]\n" for at in range(size)),
        "anchors without a value": HEAD
        + "inputs:\n  a: &a [x]\n"
        + "".join(f"  k{at}: &k{at}\n  l{at}: *a\n" for at in range(size // 5)),
        "comments that leave problems out": HEAD + "    naem: b # waza: ignore\n" * (size // 2),
        "comments that leave other problems out": HEAD + "  - naem: b # waza: ignore[x]\n" * (size // 2),
        "wrong assertions of one grader": HEAD
        + "  - type: code\n    name: b\n    config:\n      assertions:\n"
        + "".join(f"        - outpt.includes({at})\n" for at in range(size // 5)),
        "words that are wanted and forbidden": HEAD
        + "".join(
            f"    {key}:\n" + "".join(f"      - word {at}\n" for at in range(size))
            for key in ("config:\n      contains", "  not_contains")
        ),
        "wrong inline tasks": HEAD.replace(
            "[t]", "\n" + "".join(f"  - id: t{at}\n    name: [T]\n    inputs: Go\n" for at in range(size))
        ),
        "keys one blank away from the margin": "name: s\ngraders:\n   - a: [\n"
        + "".join(f" k{at}: x\n" for at in range(size)),
        "metrics": HEAD + "metrics:\n" + "  - name: m\n    weight: 0.1\n    threshold: 0.5\n" * size,
        "task files": HEAD.replace(
            "[t]", "\n" + "".join(f"  - tasks/t{at}.yaml\n" for at in range(2 * size))
        ),
        "an unknown list in brackets": HEAD
        + "tags: ["
        + ", ".join(f"k{at}" for at in range(5 * size))
        + "]\n",
        "a long text": HEAD + "description: |\n" + "  - a: [b\n" * (2 * size),
        "inline tasks": HEAD.replace(
            "[t]",
            "\n"
            + "".join(f"  - {{id: t{at}, name: T, inputs: {{prompt: Go}}}}\n" for at in range(size // 2)),
        ),
    }


LONG = long_texts(10_000)


@pytest.fixture(autouse=True)
def _no_collection_of_garbage() -> Iterator[None]:
    """What other tests left behind is not the work of these."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions of Python are called meanwhile: the machine does not matter."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", LONG)
def test_twice_as_much_takes_twice_the_work(name: str) -> None:
    diagnose(Document("file:///eval.yaml", 1, HEAD, "eval"), workspace_with())

    def work(size: int) -> int:
        document = Document("file:///eval.yaml", 1, long_texts(size)[name], "eval")
        return calls_of(lambda: diagnose(document, workspace_with()))

    assert work(800) < 2.5 * work(400)
