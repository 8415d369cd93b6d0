"""The store that the coordinator and the workers of a run share: claims, leases, answers, documents.

Dask carries messages; the truth about a trial is here. The first to create a file has won: the claim of an
attempt, and then either the permission to ask an agent that costs, or the revocation of the attempt. So no
agent is asked twice for a trial, whatever the scheduler repeats. The layout is in
``results/reading/run_store_entries.py``, which reads what is left of a run whose coordinator was killed.
"""

from __future__ import annotations

import errno
import os
import secrets
from abc import ABC, abstractmethod
from pathlib import Path

from waza_engine import files
from waza_engine.boundary import Boundary, FileError
from waza_engine.results.json_values import Block, Json, object_in, plain, text_of
from waza_engine.results.reading.run_store_entries import LEASE_SECONDS, is_over, run_store_clock
from waza_engine.results.result_file_names import LONGEST_BYTES
from waza_engine.terminal import json_text


class RunStore(ABC):
    """A shared store of a run. Methods may be called from several threads; they raise ``OSError``.

    ``name`` is its address, the same on all machines. ``key`` names a trial, ``attempt`` counts how often it
    was handed out, from 1.
    """

    look_seconds = 0.0
    """How long a look at the store stays valid: each request to an object store takes time, and costs."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def create(self) -> str:
        """Create the store and a file in it; return its name, by which others find out that they see it."""

    @property
    @abstractmethod
    def is_there(self) -> bool:
        """Return whether the run still has its store: it is removed when the results are written."""

    @property
    @abstractmethod
    def is_stopped(self) -> bool:
        """Return whether the run is to end."""

    def claim(self, key: str, attempt: int, worker: str) -> bool:
        """Claim an attempt for a worker; return whether it was the first."""
        return self._create(f"trials/{key}.{attempt}.claim", {"worker": worker})

    def claimant(self, key: str, attempt: int) -> str | None:
        """Return the worker that has claimed an attempt, None without one."""
        claim = self._read(f"trials/{key}.{attempt}.claim")
        return None if claim is None else text_of(claim.get("worker"))

    def permit(self, key: str, attempt: int, worker: str, entry: Json) -> bool:
        """Permit a worker to ask an agent that costs, once; ``entry`` is the line of a journal about it.

        Returns false when the coordinator has revoked the attempt.
        """
        return self._create(f"trials/{key}.{attempt}.asked", {"worker": worker, **entry}, sync=True)

    def revoke(self, key: str, attempt: int) -> bool:
        """Revoke an attempt before its worker asks an agent; return false when it may have asked."""
        return self._create(f"trials/{key}.{attempt}.asked", {"revoked": True}, sync=True)

    @abstractmethod
    def append(self, key: str, entry: Json) -> None:
        """Store a line about an active trial: an answer that was paid for, or the trial so far."""

    @abstractmethod
    def entries(self, key: str) -> list[Block]:
        """Return the lines about an active trial."""

    @abstractmethod
    def finish(self, key: str, document: Json) -> None:
        """Write the document of a trial that has ended, in one step."""

    def document(self, key: str) -> Block | None:
        """Return the document of a trial that has ended, None before."""
        return self._read(f"trials/{key}.json")

    @abstractmethod
    def write_lease(self, worker: str, description: Json) -> None:
        """Begin or renew the lease of a worker."""

    @abstractmethod
    def is_lost(self, worker: str, key: str, attempt: int) -> bool:
        """Return whether the worker of a claim has ended, or has not renewed its lease."""

    def write_stop(self, reason: str) -> None:
        """Ask all workers to end the trials of the run."""
        self._create("stop", {"reason": reason})

    @abstractmethod
    def has(self, name: str) -> bool:
        """Return whether a file is there."""

    @abstractmethod
    def content(self, name: str) -> bytes:
        """Return the content of a file."""

    @abstractmethod
    def _create(self, name: str, document: Json, *, sync: bool = False) -> bool:
        """Create a file unless there is one; with ``sync`` it must survive a crash. Return whether it did."""

    @abstractmethod
    def _read(self, name: str) -> Block | None:
        """Return the object in a file, empty when it is being written, None when there is none."""


class FolderRunStore(RunStore):
    """A shared folder."""

    def __init__(self, folder: Path, within: Boundary) -> None:
        super().__init__(str(folder))
        self.folder = folder
        self._within = within

    def create(self) -> str:
        """Create the folder and a file in it; return its name, by which others find out that they see it."""
        files.make_folder(self.folder, within=self._within)
        name = f"seen-{secrets.token_hex(8)}"
        self._create(name, {})
        return name

    @property
    def is_there(self) -> bool:
        """Return whether the run still has its folder: it is removed when the results are written."""
        return self.folder.is_dir()

    def append(self, key: str, entry: Json) -> None:
        """Store a line about an active trial: an answer that was paid for, or the trial so far."""
        path = self.folder / f"trials/{key}.jsonl"
        with files.opened_to_append(path, within=self._within) as file:
            file.write(json_text(plain(entry)).encode() + b"\n")
            os.fsync(file.fileno())

    def entries(self, key: str) -> list[Block]:
        """Return the lines about an active trial."""
        try:
            content = self.content(f"trials/{key}.jsonl")
        except FileNotFoundError:
            return []
        return [entry for line in content.splitlines() if (entry := object_in(line)) is not None]

    def finish(self, key: str, document: Json) -> None:
        """Write the document of a trial that has ended, in one step."""
        self._check()
        content = json_text(plain(document)).encode() + b"\n"
        files.write_atomically(self.folder / f"trials/{key}.json", [content], within=self._within)

    def write_lease(self, worker: str, description: Json) -> None:
        """Begin or renew the lease of a worker."""
        path = self.folder / f"workers/{worker}.json"
        try:
            os.utime(path)
        except FileNotFoundError:
            self._check()
            files.write_atomically(path, [json_text(description).encode()], within=self._within)

    def is_lost(self, worker: str, key: str, attempt: int) -> bool:
        """Return whether the worker of a claim has ended, or has not renewed its lease."""
        now = run_store_clock(self.folder, self._within)
        lease = self.folder / f"workers/{worker}.json"
        # A worker that was killed while it wrote its claim is not named in it.
        if not worker or not lease.exists():
            claim = self.folder / f"trials/{key}.{attempt}.claim"
            return now - claim.stat().st_mtime > LEASE_SECONDS
        return is_over(lease, now, self._within)

    @property
    def is_stopped(self) -> bool:
        """Return whether the run is to end."""
        return (self.folder / "stop").exists()

    def has(self, name: str) -> bool:
        """Return whether a file is there, within the boundary of the suite."""
        return self._within.holds(self.folder / name) and (self.folder / name).is_file()

    def _create(self, name: str, document: Json, *, sync: bool = False) -> bool:
        self._check()
        try:
            with files.create_file(self.folder / name, within=self._within) as file:
                file.write(json_text(document).encode() + b"\n")
                if sync:
                    os.fsync(file.fileno())
        except FileExistsError:
            return False
        return True

    def _check(self) -> None:
        """Raise ``FileNotFoundError`` when the run has ended: its folder must not be created again."""
        if not self.is_there:
            raise FileNotFoundError(errno.ENOENT, "the run has ended", str(self.folder))

    def _read(self, name: str) -> Block | None:
        """Return the object in a file, empty when it is being written, None when there is none."""
        try:
            return object_in(self.content(name)) or {}
        except FileNotFoundError:
            return None

    def content(self, name: str) -> bytes:
        """Return the content of a file."""
        path = self.folder / name
        try:
            return files.read_bytes(path, LONGEST_BYTES, within=self._within)
        except FileError as error:
            if error.kind == "missing":
                raise FileNotFoundError(path) from None
            raise
