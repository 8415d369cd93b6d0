"""A syntax fault as a problem."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.syntax.fault import SyntaxFault

_SEVERITY: Mapping[str, Severity] = MappingProxyType(
    {"control-character": "warning", "unknown-anchor": "error"}
)
"""The severity of a fault, if a run can still read the file."""


def fault_problem(fault: SyntaxFault) -> Problem:
    """Return a fault as a problem."""
    severity = _SEVERITY.get(fault.code, "error")
    return Problem(fault.code, fault.span, fault.message, severity, fault.fixes, fault.related)
