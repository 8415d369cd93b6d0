"""The real server stays answerable, and small, whatever is typed into a document."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest
from lsprotocol import types

from tests.protocol.editor import editing

HEAD = "name: s\nskill: s\nconfig:\n  trials_per_task: 1\ngraders:\n  - type: text\n    name: a\ntasks:\n  - t\n"
