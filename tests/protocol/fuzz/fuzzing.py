"""Sessions, one after the other and at the same time; a finding ends its session."""

import tempfile
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.protocol.fuzz.conduct import play
from tests.protocol.fuzz.findings import FoundError, Settings, Step
from tests.protocol.fuzz.scenario import scenario, settings_of
from tests.protocol.fuzz.session import Limits, Session


@dataclass
class Outcome:
    """How a session went. ``steps`` are those that were played, the last of them made the finding."""

    settings: Settings
    messages: int
    checks: Counter[str]
    steps: Sequence[Step] = ()
    finding: FoundError | None = None

    def told(self) -> str:
        """Return the finding, how to have it again, and the steps that led to it."""
        return f"--seed {self.settings.seed}: {self.finding}\n" + "".join(
            f"  {step}\n" for step in self.steps[-5:]
        )


def run_session(seed: int, count: int, limits: Limits) -> Outcome:
    """Play the session of a seed, with about ``count`` messages."""
    settings = settings_of(seed)
    with _folder() as root:
        session = Session(settings, root, limits)
        return _played(session, scenario(session, count))


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
