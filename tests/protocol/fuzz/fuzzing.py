"""Sessions, one after the other and at the same time; a finding ends its session and leaves a replay file."""

import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.protocol.fuzz.conduct import play
from tests.protocol.fuzz.findings import FoundError, Settings, Step, write_replay
from tests.protocol.fuzz.scenario import scenario, settings_of
from tests.protocol.fuzz.session import Limits, Session

MOST_TRIES = 400


@dataclass
class Outcome:
    """How a session went. ``steps`` are those that were played, the last of them made the finding."""

    settings: Settings
    messages: int
    checks: Counter[str]
    steps: Sequence[Step] = ()
    finding: FoundError | None = None


def run_session(seed: int, count: int, limits: Limits) -> Outcome:
    """Play the session of a seed, with about ``count`` messages."""
    settings = settings_of(seed)
    with _folder() as root:
        session = Session(settings, root, limits)
        return _played(session, scenario(session, count))


def replay(settings: Settings, steps: Sequence[Step], limits: Limits) -> Outcome:
    """Play steps again."""
    with _folder() as root:
        return _played(Session(settings, root, limits), steps)


def keep(outcome: Outcome, folder: Path) -> Path:
    """Write the replay file of a finding and return its path."""
    path = folder / f"session-{outcome.settings.seed}.jsonl"
    write_replay(path, outcome.settings, outcome.steps)
    return path


@contextmanager
def _folder() -> Generator[Path]:
    """Make the root of a session; beside it is the place for temporary files of the server."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve() / "root"
        root.mkdir()
        yield root


def _played(session: Session, steps: Iterable[Step]) -> Outcome:
    finding: FoundError | None = None
    try:
        for step in steps:
            play(session, step)
    except FoundError as found:
        finding = found
    finally:
        session.close()
    return Outcome(session.settings, session.messages, session.checks, session.steps, finding)


def shrunk(outcome: Outcome, limits: Limits, say: Callable[[str], object]) -> Outcome:
    """Return the shortest outcome with the same kind of finding that a few hundred tries lead to.

    Left out are halves, quarters and so on of the steps, after the introduction that every session needs.
    """
    assert outcome.finding is not None
    kind = outcome.finding.kind
    size = len(outcome.steps) // 2
    tries = 0
    while size >= 1 and tries < MOST_TRIES:
        start = 0
        while start < len(outcome.steps) and tries < MOST_TRIES:
            steps = _without(outcome.steps, start, start + size)
            start += size
            if len(steps) == len(outcome.steps):
                continue
            tries += 1
            shorter = replay(outcome.settings, steps, limits)
            if shorter.finding is not None and shorter.finding.kind == kind:
                outcome = shorter
                start -= size
        say(f"{len(outcome.steps)} steps, {tries} tries")
        size //= 2
    return outcome


def _without(steps: Sequence[Step], start: int, end: int) -> list[Step]:
    return [step for number, step in enumerate(steps) if not start <= number < end or _is_introduction(step)]


def _is_introduction(step: Step) -> bool:
    message = step.get("message", {})
    return message.get("method") in ("initialize", "initialized") and not step.get("ignored")
