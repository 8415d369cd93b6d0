"""The agent under test is installed once, however many processes want it at the same time."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

PROCESSES = 6
SLOW_NPM = """\
#!/bin/sh
echo started >> "$WAZA_NPM_LOG"
sleep 0.5
for machine in x64 arm64; do
  mkdir -p "node_modules/@github/copilot-linux-$machine"
  echo program > "node_modules/@github/copilot-linux-$machine/copilot"
done
"""
INSTALL = """\
import sys
from tests.agents.copilot import installed_copilot
print("ready", flush=True)
sys.stdin.read()
print(installed_copilot())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="its npm is a shell script for Linux")
def test_processes_that_install_at_the_same_time_fill_the_folder_once(tmp_path: Path) -> None:
    log, npm = tmp_path / "log", tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(SLOW_NPM)
    npm.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{npm.parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "WAZA_NPM_LOG": str(log),
    }
    go, say_go = os.pipe()
    installing = [
        subprocess.Popen(
            [sys.executable, "-c", INSTALL],
            stdin=go,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(PROCESSES)
    ]
    for process in installing:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    os.close(go)
    os.close(say_go)
    programs = {process.communicate(timeout=60)[0] for process in installing}
    assert [process.returncode for process in installing] == [0] * PROCESSES
    assert len(programs) == 1
    assert Path(programs.pop().strip()).read_text() == "program\n"
    assert log.read_text() == "started\n"
