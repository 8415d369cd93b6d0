"""``python -m tests.protocol.fuzz``: many sessions of random messages, files and edits, and what they found.

A session is made by its seed: ``--seed NUMBER --messages 1`` plays it again.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.protocol.fuzz.fuzzing import Outcome, run_session
from tests.protocol.fuzz.session import Limits

LIMITS = Limits()
_PROGRESS_SECONDS = 60


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz; return 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.protocol.fuzz", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="how many messages (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="the first session's seed (random)")
    parser.add_argument("--jobs", type=int, default=1, help="sessions at the same time (%(default)s)")
    parser.add_argument("--per-session", type=int, default=3_000, help="messages of a session (%(default)s)")
    options = parser.parse_args(arguments)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    sessions = [
        (seed + number, options.per_session) for number in range(-(-options.messages // options.per_session))
    ]
    return _fuzz(sessions, options.jobs)


def _fuzz(sessions: list[tuple[int, int]], jobs: int) -> int:
    started = said = time.monotonic()
    total = found = 0
    checks: Counter[str] = Counter()
    _say(f"{len(sessions)} sessions from seed {sessions[0][0]}")
    for outcome in _until_interrupted(_outcomes(sessions, jobs)):
        total += outcome.messages
        checks += outcome.checks
        if outcome.finding is not None:
            found += 1
            _say(outcome.told())
        if time.monotonic() - said > _PROGRESS_SECONDS:
            said = time.monotonic()
            _say(f"{total:,} messages, {found} findings, {said - started:.0f} s")
    seconds = time.monotonic() - started
    _say(f"compared: {dict(checks)}")
    _say(f"{found} findings; {seconds:.0f} s, {total / seconds:.0f} messages/s")
    return 1 if found else 0


def _until_interrupted(outcomes: Generator[Outcome]) -> Generator[Outcome]:
    """Yield what there is until the user has seen enough, who wants to see the summary too."""
    try:
        yield from outcomes
    except KeyboardInterrupt:
        _say("interrupted")


def _outcomes(sessions: list[tuple[int, int]], jobs: int) -> Generator[Outcome]:
    with ProcessPoolExecutor(jobs) as pool:
        work = [pool.submit(run_session, seed, count, LIMITS) for seed, count in sessions]
        for done in as_completed(work):
            yield done.result()
            work.remove(done)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
