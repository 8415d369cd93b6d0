"""``python -m tests.protocol.fuzz``: many sessions of random messages, files and edits, and what they found.

``--replay FILE`` plays what was found again, ``--shrink FILE`` makes it shorter first.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.protocol.fuzz.findings import read_replay
from tests.protocol.fuzz.fuzzing import Outcome, keep, replay, run_session, shrunk
from tests.protocol.fuzz.session import Limits

LIMITS = Limits()
_PROGRESS_SECONDS = 60


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, replay or shrink; return 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.protocol.fuzz", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="how many messages (%(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="the first session's seed (random)")
    parser.add_argument("--jobs", type=int, default=1, help="sessions at the same time (%(default)s)")
    parser.add_argument("--per-session", type=int, default=3_000, help="messages of a session (%(default)s)")
    parser.add_argument("--found", type=Path, default=Path("fuzz-findings"), help="folder of replay files")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="play a replay file")
    parser.add_argument("--shrink", type=Path, metavar="FILE", help="make a replay file shorter, in place")
    options = parser.parse_args(arguments)
    if options.replay is not None or options.shrink is not None:
        return _replay(options.replay or options.shrink, shorter=options.shrink is not None)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    sessions = [
        (seed + number, options.per_session) for number in range(-(-options.messages // options.per_session))
    ]
    return _fuzz(sessions, options.jobs, options.found)


def _fuzz(sessions: list[tuple[int, int]], jobs: int, folder: Path) -> int:
    started = said = time.monotonic()
    total = found = 0
    checks: Counter[str] = Counter()
    _say(f"{len(sessions)} sessions from seed {sessions[0][0]}")
    for outcome in _until_interrupted(_outcomes(sessions, jobs)):
        total += outcome.messages
        checks += outcome.checks
        if outcome.finding is not None:
            found += 1
            path = keep(outcome, folder)
            where = f"session {outcome.settings.seed}, step {len(outcome.steps) - 1}, {path}"
            _say(f"{where}:\n  {outcome.finding}")
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


def _replay(path: Path, *, shorter: bool) -> int:
    settings, steps = read_replay(path)
    outcome = replay(settings, steps, LIMITS)
    if outcome.finding is None:
        _say(f"nothing was found in {len(steps)} steps")
        return 0
    _say(str(outcome.finding))
    if shorter:
        outcome = shrunk(outcome, LIMITS, _say)
        _say(f"{keep(outcome, path.parent)}: {len(outcome.steps)} steps\n{outcome.finding}")
    return 1


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
