"""The requests that this server adds to the protocol, with the types of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsprotocol import types

RUNNABLES = "waza/runnables"
RunnablesParams = types.CodeLensParams
"""``textDocument``, as for lenses."""

OWN_REQUESTS: Mapping[str, type[Any]] = {RUNNABLES: RunnablesParams}
