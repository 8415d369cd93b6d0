"""``python -m tests.protocol.exits``: many exits at random moments, and what they left behind."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.protocol.exits.ending import Ending, end, plan_of

WITHIN_SECONDS = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """End servers; return 1 when one of them left something, for good or for too long."""
    parser = argparse.ArgumentParser(prog="python -m tests.protocol.exits", description=__doc__)
    parser.add_argument("--times", type=int, default=100, help="how many exits (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="seed of the first (random)")
    parser.add_argument("--jobs", type=int, default=1, help="exits at the same time (%(default)s)")
    parser.add_argument(
        "--within", type=float, default=WITHIN_SECONDS, help="seconds to be gone (%(default)s)"
    )
    options = parser.parse_args(arguments)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    started = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        seeds = range(seed, seed + options.times)
        endings = list(pool.map(partial(_told, within_seconds=options.within), seeds))
    _say(_summary(endings, options.within))
    _say(f"{time.monotonic() - started:.0f} s, from seed {seed}")
    return 1 if any(ending.complaints or ending.seconds > options.within for ending in endings) else 0


def _told(seed: int, within_seconds: float) -> Ending:
    ending = end(plan_of(seed))
    if ending.complaints or ending.seconds > within_seconds:
        plan = ending.plan
        complaints = "; ".join(f"{count} × {text}" for text, count in Counter(ending.complaints).items())
        complaints = complaints or f"all is gone only after {ending.seconds:.1f} s"
        _say(f"seed {seed}: {plan.way}, {plan.delay:.2f} s after {plan.moment}: {complaints}")
    return ending


def _summary(endings: Sequence[Ending], within_seconds: float) -> str:
    by_plan: defaultdict[tuple[str, str], list[Ending]] = defaultdict(list)
    for ending in endings:
        by_plan[ending.plan.moment, ending.plan.way].append(ending)
    lines = [f"{'moment':12}{'way':16}{'exits':>7}{'failed':>8}{'late':>6}{'slowest':>9}"]
    for (moment, way), found in sorted(by_plan.items()):
        failed = sum(bool(ending.complaints) for ending in found)
        late = sum(within_seconds < ending.seconds < float("inf") for ending in found)
        slowest = max(
            (ending.seconds for ending in found if ending.seconds < float("inf")), default=float("inf")
        )
        lines.append(f"{moment:12}{way:16}{len(found):>7}{failed:>8}{late:>6}{slowest:>8.2f}s")
    failed = sum(bool(ending.complaints) for ending in endings)
    late = sum(within_seconds < ending.seconds < float("inf") for ending in endings)
    return "\n".join([*lines, f"{len(endings)} exits, {failed} failed, {late} late"])


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
