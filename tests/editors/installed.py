"""Installs the editors that the tests here drive, on Debian as root; elsewhere takes those that are there."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.installations import one_at_a_time

PACKAGES = ("neovim", "emacs-nox", "elpa-eglot", "elpa-yaml-mode")
_HAS_EGLOT = """
(progn (package-initialize)
       (kill-emacs (if (and (require 'eglot nil t) (require 'yaml-mode nil t)) 0 1)))
"""


def installed_neovim() -> str:
    """Return the program; skip the test on a machine that has none."""
    install_editors()
    return shutil.which("nvim") or pytest.skip("nvim is not installed")


def installed_emacs() -> str:
    """Return the program, which has eglot and a mode for YAML; skip the test on a machine without."""
    install_editors()
    emacs = shutil.which("emacs") or pytest.skip("emacs is not installed")
    if not _has_eglot(emacs):
        pytest.skip("emacs has no eglot or no yaml-mode")
    return emacs


def install_editors() -> None:
    """Install what is missing. Raises ``CalledProcessError`` when Debian's packages cannot be installed."""
    emacs = shutil.which("emacs")
    if shutil.which("nvim") and emacs and _has_eglot(emacs):
        return
    if sys.platform != "linux" or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    with one_at_a_time("editors"):
        if len(_known()) < len(PACKAGES):
            _apt("apt-get", "update", "-qq")  # the package lists were absent or old
        _apt("apt-get", "install", "-y", "-qq", "--no-install-recommends", *_known()).check_returncode()


def _known() -> list[str]:
    """Return those packages that this Debian has: a newer Emacs brings eglot itself."""
    return [name for name in PACKAGES if _apt("apt-cache", "show", name).returncode == 0]


def _apt(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if command[0] == "apt-get":
        command = (*command, "-o", "DPkg::Lock::Timeout=300")  # Chromium may be on its way in
    return subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def _has_eglot(emacs: str) -> bool:
    asked = subprocess.run(
        [emacs, "--batch", "-q", "--eval", _HAS_EGLOT],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return asked.returncode == 0
