"""A run without ``--cluster`` is what it was."""

import subprocess
import sys
from pathlib import Path

from tests.engine.suites import task, write_suite

PROGRAM = """
import sys
from pathlib import Path
from waza_engine.commands.run import run_command
from waza_engine.runs.settings.table import RunSettings
assert run_command([Path(sys.argv[1])], RunSettings(Path()), None, "text") == 0
found = {name.partition(".")[0] for name in sys.modules} & {"distributed", "dask", "cryptography", "tornado"}
found |= {name for name in sys.modules if name.startswith("waza_engine.cluster")}
assert not found, found
"""


def test_nothing_of_clusters_is_imported(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
