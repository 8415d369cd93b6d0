"""Problems: the output of the rules, used by every feature, the CLI and the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial
from typing import Literal, get_args

from waza_engine.files import printable
from waza_engine.frozen import frozen
from waza_engine.spelling import nearest, typo_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
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


def fault_problem(fault: SyntaxFault) -> Problem:
    """Return a syntax fault as a problem; a run can read a file with a control character."""
    severity = "warning" if fault.code == "control-character" else "error"
    return Problem(fault.code, fault.span, fault.message, severity, fault.fixes, fault.related)


def suggestion(
    tree: Tree,
    node: Node,
    known: Iterable[str],
    intended: str | None = None,
    typo_of: Callable[[str, Iterable[str]], str | None] = typo_of,
) -> tuple[str | None, tuple[Fix, ...]]:
    """Return the known word that a scalar most likely means, and the fix that writes it.

    The fix is preferred if the scalar is a typo of the word. ``intended`` is the word, if it is known.
    """
    known, written = tuple(known), node.value.strip()
    word = intended or nearest(written, known)
    if word is None:
        return None, ()
    repair = partial(replace_scalar, tree, node, word)
    return word, (Fix(f"Change to `{printable(word)}`", repair, preferred=typo_of(written, known) == word),)
