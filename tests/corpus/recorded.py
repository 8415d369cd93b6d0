"""Public suites, each run once with the mock: what is asked again of recorded answers is tried with these."""

import contextlib
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from tests.engine.runs.recorded_runs import records, rewritten
from tests.shared_corpus import writable_suites
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.regrading.regrade import RegradeRequest, Regrading, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError


@dataclass(frozen=True, slots=True)
class RecordedSuite:
    """A copy of a public suite and the result file of its run. ``root`` is where its repository begins."""

    path: Path
    record: Path
    root: Path

    @contextmanager
    def regrading(self) -> Generator[Regrading]:
        """Make it ready to be judged again, in the working directory of its run."""
        with contextlib.chdir(self.root), ResidentSuites() as suites:
            yield prepare_regrading(RegradeRequest(self.record), suites)


@contextmanager
def recorded_suites(folder: Path, *, every: int = 1) -> Generator[list[RecordedSuite]]:
    """Give copies of all suites that can be loaded, or of each nth, below ``folder``, with their runs."""
    with writable_suites(folder) as copies:
        workspaces = folder / "workspaces"
        workspaces.mkdir()
        with patch.object(tempfile, "tempdir", str(workspaces)):
            found = list(_recorded(copies, every))
        yield found
        shutil.rmtree(workspaces)


def _recorded(copies: Path, every: int) -> Iterator[RecordedSuite]:
    for record in records()[::every]:
        root = copies / record["snapshot"]
        path = root / record["path"]
        path.write_text(rewritten(path.read_text("utf-8")), "utf-8")
        with contextlib.chdir(root):
            try:
                prepared = prepare(RunSettings(path, keep_workspace=True))
            except (SuiteFileError, SuiteError):
                continue
            report = prepared.run(lambda _: None, RunCancellation())
        assert report.results_file is not None
        yield RecordedSuite(path, report.results_file, root)
