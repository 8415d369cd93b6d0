"""Whether judging as one types makes the server's own answers slower: the same edits with it and without.

``python -m tests.bench.live_answers`` opens a suite of 10 tasks and one of 200, each in two servers, one that
judges live and one that does not. Both get the same edits of a grader, turn by turn, and are asked as an
editor asks after each: diagnostics, completion, hover (where nothing is told of recorded answers), hints. It
prints p50 and p95 in milliseconds of both beside each other, the ratio of their medians, and what the server
spent in processor time from the edit to the last answer, which a busy machine does not change much.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from statistics import mean, median, quantiles

import psutil

from tests.bench.live import SIZES, graders
from tests.live.bed import recorded_bed
from tests.protocol.editor import Editor, editing, is_told_to_ask_again

EDITS = 40
PROCESSOR = "processor time of all"
PAUSE_SECONDS = 0.3
"""Between two turns: what one server has begun is over when the other one is asked."""


def main() -> None:
    """Print the figures."""
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path, _ = recorded_bed(Path(folder) / "suite", graders(), tasks=size, trials=3)
            asyncio.run(_compare(size, path, path.read_text("utf-8").partition("graders:")[0]))


async def _compare(size: int, path: Path, head: str) -> None:
    taken: dict[str, dict[str, list[float]]] = {"on": {}, "off": {}}
    async with _opened(path, "on") as live, _opened(path, "off") as plain:
        uri = live.open(path)
        plain.open(path)
        while not any("⚡" in str(hint.label) for hint in await live.hints(uri)):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        for number in range(1, EDITS + 1):
            for mode, editor in (("on", live), ("off", plain)):
                await _edit(editor, uri, f"{head}graders:\n{graders(text=number)}", number, taken[mode])
                await asyncio.sleep(PAUSE_SECONDS)
        assert any("⚡" in str(hint.label) for hint in await live.hints(uri))
        assert not any("⚡" in str(hint.label) for hint in await plain.hints(uri))
    print(f"{size} tasks, answers of the server")  # noqa: T201
    for answer in taken["on"]:
        if answer == PROCESSOR:
            on, off = mean(taken["on"][answer]), mean(taken["off"][answer])
            print(f"  {answer}: live {on:.1f} ms, not live {off:.1f} ms")  # noqa: T201
            continue
        on, off = taken["on"][answer], taken["off"][answer]
        ratio = median(on) / median(off)
        print(f"  {answer}: live {_figures(on)}, not live {_figures(off)}; ratio {ratio:.2f}")  # noqa: T201


def _opened(path: Path, live: str) -> AbstractAsyncContextManager[Editor]:
    return editing(path.parent, pulls=True, limit=is_told_to_ask_again, options={"live": live})


async def _edit(editor: Editor, uri: str, text: str, number: int, taken: dict[str, list[float]]) -> None:
    """Edit the pattern of the first grader, and add what each answer took."""
    lines = text.splitlines()
    row = next(row for row, line in enumerate(lines) if "regex_match" in line)
    column = lines[row].index("regex_match")
    server = psutil.Process(editor.process_id)
    worked = server.cpu_times()
    editor.replace(uri, number + 1, text)
    asked: dict[str, Callable[[], Awaitable[object]]] = {
        "diagnostics": lambda: editor.pull(uri),
        "completion": lambda: editor.complete(uri, row, column),
        "hover": lambda: editor.hover(uri, row, lines[row].index("type") + 1),
        "hints": lambda: editor.hints(uri),
    }
    for answer, ask in asked.items():
        started = time.perf_counter()
        await ask()
        taken.setdefault(answer, []).append((time.perf_counter() - started) * 1000)
    now = server.cpu_times()
    taken.setdefault(PROCESSOR, []).append((now.user + now.system - worked.user - worked.system) * 1000)


def _figures(times: list[float]) -> str:
    return f"{median(times):.1f} / {quantiles(times, n=20)[18]:.1f} ms"


if __name__ == "__main__":
    main()
