"""Directories that a run writes to besides its result file, from its settings and ``.waza.yaml``."""

from __future__ import annotations

from pathlib import Path

from waza_engine.boundary import Boundary, FileError, suite_boundary
from waza_engine.files import from_home
from waza_engine.results.places import session_directory
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.loading import find_project_config
from waza_engine.spec.project_config import Paths, ProjectConfig


def session_logs(settings: RunSettings, suite_directory: Path, project: ProjectConfig) -> Path | None:
    """Return the directory of session logs, None when the run keeps none."""
    if settings.session_directory is not None:
        return settings.session_directory.absolute()
    wanted = project.defaults.session_log if settings.session_log is None else settings.session_log
    return session_directory(suite_directory) if wanted else None


def second_results(suite_directory: Path, project: ProjectConfig) -> Path | None:
    """Return the directory that ``paths.results`` names for a copy of the results, None by default.

    It is relative to ``.waza.yaml`` (upstream: to the working directory). Raises ``SuiteError`` for one that
    leads out of the boundary of that file.
    """
    written = project.paths.results.strip()
    file = find_project_config(suite_directory)
    if file is None or not written or Path(written) == Path(Paths().results):
        return None
    return inside(file, written, "paths.results")


def project_boundary(suite_directory: Path) -> Boundary:
    """Return the boundary of paths in ``.waza.yaml``, or of the suite without that file."""
    file = find_project_config(suite_directory)
    return suite_boundary(suite_directory if file is None else file.parent)


def inside(config: Path, written: str, key: str) -> Path:
    """Return the place of a path in ``.waza.yaml``. Raises ``SuiteError`` when it leads outside."""
    try:
        return suite_boundary(config.parent).first(written, [config.parent / from_home(written)], key)
    except FileError as error:
        raise SuiteError(f"{config}: {error.why}; name a folder inside.") from None


def written_folders(settings: RunSettings, suite_directory: Path, project: ProjectConfig) -> list[Path]:
    """Return the folders that a run writes to besides its result file; some need not exist."""
    places = (
        session_logs(settings, suite_directory, project),
        second_results(suite_directory, project),
        settings.transcript_directory,
    )
    return [place for place in places if place is not None]
