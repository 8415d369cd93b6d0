"""Install the programs that ``make check`` drives, side by side: ``python -m tests.preparation``.

A test that needs one asks for it again and reports what went wrong, so nothing is reported here.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.agents.copilot import installed_copilot
from tests.editors.installed import install_editors
from tests.vscode.scenarios import NEEDS_VSCODE, install_vscode


def main() -> None:
    """Install the Copilot agent, the editors and, where it exists, the VS Code under test."""
    installers = [installed_copilot, install_editors]
    if not any(mark.args[0] for mark in NEEDS_VSCODE if mark.name == "skipif"):
        installers.append(install_vscode)
    with ThreadPoolExecutor() as pool:
        for installation in [pool.submit(install) for install in installers]:
            with suppress(Exception, pytest.skip.Exception, pytest.fail.Exception):
                installation.result()


if __name__ == "__main__":
    main()
