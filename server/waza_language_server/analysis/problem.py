"""Problems: the output of the rules, used by every feature, the CLI and the tests."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, get_args

from waza_engine.frozen import frozen
from waza_language_server.text.edit import Fix, Related
from waza_language_server.text.span import Span

Severity = Literal["error", "warning", "information", "hint"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The worst first."""


@frozen()
class Problem:
    """One finding. ``code`` is stable and is the anchor of its paragraph in ``docs/diagnostics.md``.

    ``tag`` follows the editor: ``unnecessary`` is drawn faded, ``deprecated`` struck through.
    """

    code: str
    span: Span
    message: str
    severity: Severity = "error"
    fixes: tuple[Fix, ...] = ()
    related: tuple[Related, ...] = field(default=())
    tag: Literal["unnecessary", "deprecated"] | None = None

    def shifted(self, by: int) -> Problem:
        """Return the same problem ``by`` characters further on."""
        if by == 0:
            return self
        # Written out: ``replace`` takes as long as all the rest, and there may be thousands.
        return Problem(
            self.code,
            self.span.shifted(by),
            self.message,
            self.severity,
            tuple([fix.shifted(by) for fix in self.fixes]),
            tuple([related.shifted(by) for related in self.related]),
            self.tag,
        )
