"""A run of tests that leaves something behind fails, and says what."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

# As `python -m pytest` with the plug-in, but not patient.
PYTEST = """\
import sys, pytest
from tests import leftovers
leftovers.PATIENCE_SECONDS = 0.2
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "xdist", *sys.argv[1:]], plugins=[leftovers]))
"""
# A process has no environment, and so no mark, until it is started completely.
LEAVES = (
    "subprocess.Popen([sys.executable, '-c', 'import time; print(flush=True); time.sleep(60)'], "
    "stdout=subprocess.PIPE, start_new_session=True).stdout.readline(); "
    "tempfile.mkdtemp(prefix='forgotten-'); Path('changed.txt').write_text('')"
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("__pycache__/\n.gitignore\npytest.ini\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def test_a_run_that_leaves_nothing_passes(repository: Path) -> None:
    code, output = run_of(repository, "pass", "-n", "0")
    assert (code, "left behind" in output) == (0, False), output


@pytest.mark.parametrize("processes", ["0", "2"])
def test_what_is_left_fails_the_run(repository: Path, processes: str) -> None:
    code, output = run_of(repository, LEAVES, "-n", processes)
    assert code == 1
    for said in ("time.sleep(60)", "temporary directory: forgotten-", "in the repository: ?? changed.txt"):
        assert said in output


def run_of(repository: Path, statements: str, *arguments: str) -> tuple[int, str]:
    """Run a test of these statements in a clone; return the exit code and what was printed."""
    imports = "import subprocess, sys, tempfile\nfrom pathlib import Path\nimport pytest\n"
    (repository / "test_it.py").write_text(f"{imports}def test_it(): {statements}\n")
    subprocess.run(["git", "add", "test_it.py"], cwd=repository, check=True)
    done = subprocess.run(
        [sys.executable, "-c", PYTEST, *arguments, "--rootdir", str(repository)],
        cwd=repository,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "PYTHONDONTWRITEBYTECODE": "1",
            # They take most of the time that a process needs to start.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
