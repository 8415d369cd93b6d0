"""Validation of fixes: the problems of a document after an edit, compared with the problems now.

Only parts that an edit can have changed are checked again: the grader entry or the list item that it touches,
the text outside of lists, and the rules about several entries if their result could change. So validating a
fix costs as much as checking the edited item, whatever the size of the document. If that is not certain
(aliases, text that cannot be parsed) the entire document is checked.

Architecture invariant: the result is the same as if the entire document were diagnosed again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.analysis.changed_places import Changes
from waza_language_server.analysis.consequences import may_have_consequences
from waza_language_server.analysis.diagnose import (
    PROBLEMS_PER_CHECKPOINT,
    all_problems,
    diagnose,
    hides,
    in_order,
)
from waza_language_server.analysis.directives import as_wanted
from waza_language_server.analysis.excerpt import Excerpt, Excerpts
from waza_language_server.analysis.failures import guarded
from waza_language_server.analysis.file_rules.grader_names import name_of
from waza_language_server.analysis.file_rules.schema_version import as_newer
from waza_language_server.analysis.fix_limits import stays_within
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.analysis.grader_problems import grader_problems
from waza_language_server.analysis.problem import SEVERITIES, Problem
from waza_language_server.analysis.rule import FileView, Found, GradersView, SuiteView, found_by
from waza_language_server.analysis.rules import (
    FILE_RULES,
    GRADERS_RULES,
    ITEM_RULES,
    SUITE_RULES,
    TEXT_RULES,
)
from waza_language_server.project.outline import outline_of
from waza_language_server.schema.locate import graders_in
from waza_language_server.syntax.fault import STRUCTURAL_CODES
from waza_language_server.syntax.tree import Tree
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Fix

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

Chosen = tuple[Problem, Fix]
Key = tuple[str, int, int, str]

_ADVICE = frozenset({"information", "hint"})
_OF_UNKNOWN_KEYS = frozenset({"unknown-key", "misplaced-key"})
_HIDING = STRUCTURAL_CODES | {"unknown-grader-type", "missing-grader-type"}
"""Codes of problems that keep the rules from checking the part around them."""


@dataclass(frozen=True)
class Trials:
    """Validates fixes of one document. ``problems`` are all those of its current version."""

    document: Document
    workspace: Workspace
    problems: Sequence[Problem]
    _found: list[Sequence[Problem]] = field(default_factory=list[Sequence[Problem]], init=False, repr=False)
    """All problems, including those not reported because of a typo; filled when first needed."""

    def repairs(self, chosen: Sequence[Chosen], *, may_reveal: bool = False) -> bool:
        """Return whether these fixes together remove their problems and add no other ones.

        A fix that reaches beyond its problem (``fix_limits``) does not count as one. Advice (information,
        hints) may replace errors and warnings. With ``may_reveal``, repairing an obstacle to the rules, as an
        unknown type is, may reveal problems in the part that was not checked.
        """
        reveals = may_reveal and all(problem.code in _HIDING or fix.reveals for problem, fix in chosen)
        return self._hindered(chosen, reveals=reveals) == []

    def culprits(self, chosen: Sequence[Chosen]) -> frozenset[int]:
        """Return the indexes of the fixes that keep these from working together; empty if they do work.

        Those are the ones next to the problems that appear or stay: a guess that has to be validated.
        """
        made = _edits_of(chosen)
        far = [
            index
            for index, ((problem, _), edits) in enumerate(zip(chosen, made, strict=True))
            if not stays_within(self.document.tree, problem, edits)
        ]
        if far:
            return frozenset(far)
        hindered = self._hindered(chosen, reveals=False)
        if hindered is None:
            return frozenset(range(len(chosen)))
        owners = {edit: index for index, edits in enumerate(made) for edit in edits}
        changes = Changes(owners)
        return frozenset(owners[changes.nearest(problem.span)] for problem in hindered)

    def _hindered(self, chosen: Sequence[Chosen], *, reveals: bool) -> list[Problem] | None:
        """Return the problems that fixes bring or leave; None if one reaches too far or breaks the syntax."""
        edits: list[Edit] = []
        for problem, fix in chosen:
            made = fix.edits
            if not stays_within(self.document.tree, problem, made):
                return None
            edits += made
        repaired = [problem for problem, _ in chosen]
        brought = self._brought_by(edits, repaired)
        if brought is None:
            return None
        return [each for each in brought if not _is_tolerable(each, repaired, reveals=reveals)]

    def bring_nothing(self, edits: Sequence[Edit]) -> bool:
        """Return whether edits that repair nothing add no problem to the document."""
        return self._brought_by(edits, ()) == []

    def _brought_by(self, edits: Sequence[Edit], repaired: Sequence[Problem]) -> list[Problem] | None:
        """Return the problems that edits add, or leave of ``repaired``; None if they add syntax errors."""
        if not edits:
            return None
        if not self._found:
            more = may_have_consequences(self.document, self.problems)
            found = all_problems(self.document, self.workspace) if more else self.problems
            self._found.append(found)
        text = apply(self.document.text, edits)
        changed = self.document.replaced(text, self.document.version)
        if len(changed.tree.errors) > len(self.document.tree.errors):
            return None
        checkpoint()
        changes = Changes(edits)
        excerpt = self._excerpt(changed.tree, changes, repaired)
        if excerpt is None:
            after = all_problems(changed, self.workspace.with_document(changed))
        else:
            whole = FileView(changed.tree, changed.kind, self.workspace.catalog)
            found = as_newer(whole, self._judged_again(whole, changed, excerpt))
            problems = in_order(changed.tree, found)
            after = as_wanted(problems, changed, self.workspace.with_document(changed))
        checkpoint()
        brought = self._brought(changes, repaired, after)
        return brought or self._no_more_hidden(changes, changed, after)

    def _no_more_hidden(self, changes: Changes, changed: Document, after: Sequence[Problem]) -> list[Problem]:
        """Return problems that a typo hid and that still appear without it: the typo was not repaired."""
        if not any(self._was_untold(problem, changes) for problem in after):
            return []
        told = diagnose(changed, self.workspace.with_document(changed))
        return [problem for problem in told if self._was_untold(problem, changes)]

    def _was_untold(self, problem: Problem, changes: Changes) -> bool:
        span = changes.before(problem.span)
        return span is not None and _key(replace(problem, span=span)) in self._untold

    def _excerpt(self, tree: Tree, changes: Changes, repaired: Sequence[Problem]) -> Excerpt | None:
        """Return the parts that must be checked again; None if that is everything."""
        before = self.document.tree
        if (
            hides(self.document)
            or before.anchored
            or tree.anchored
            or not _has_same_faults(before, tree, changes)
        ):
            return None
        excerpts = self._excerpts
        checkpoint()
        excerpt = excerpts.of(tree, changes)
        if excerpt is None or not excerpt.covers([problem.span for problem in repaired]):
            return None
        return excerpt

    def _judged_again(self, whole: FileView, changed: Document, excerpt: Excerpt) -> Found:
        """Yield the problems of the parts that an edit touched, and of everything that depends on them."""
        kind, catalog = whole.kind, whole.catalog
        part = replace(whole, tree=replace(changed.tree, root=excerpt.after))
        if changed.tree.errors:
            yield from found_by(TEXT_RULES, whole)
        if not excerpt.only_graders:
            yield from found_by(FILE_RULES, part)
            whole_items = replace(whole, tree=replace(changed.tree, root=excerpt.whole_items))
            yield from found_by(ITEM_RULES, whole_items)
        known = {entry.green for entry in graders_in(excerpt.before, kind, catalog)}
        entries = list(graders_in(excerpt.after, kind, catalog))
        touched = [entry for entry in entries if entry.green not in known]
        for entry in touched:
            yield from grader_problems(part, entry)
        names = [name_of(entry) for entry in graders_in(excerpt.before, kind, catalog)]
        renamed = names != [name_of(entry) for entry in entries]
        if renamed or not excerpt.only_graders:
            yield from self._of_several(changed, renamed=renamed)
        else:
            yield from self._of_touched(changed, touched)

    def _of_several(self, changed: Document, *, renamed: bool) -> Found:
        """Yield the problems of several graders or files together."""
        graders = GraderEntries(changed.tree, changed.kind, self.workspace.catalog)
        if renamed:
            yield from found_by(GRADERS_RULES, GradersView(changed.text, graders))
        around = self.workspace.with_document(changed)
        # Built here because the rules need it first and would build it without pausing.
        outline_of(changed)
        yield from found_by(SUITE_RULES, SuiteView(changed, around, graders))

    def _of_touched(self, changed: Document, touched: Sequence[Node]) -> Found:
        """Yield the problems of these graders and other files together, when no other part has changed.

        The files around are unchanged: nothing else of a suite depends on the configuration of its graders.
        """
        graders = GraderEntries(changed.tree, changed.kind, self.workspace.catalog)
        view = SuiteView(changed, self.workspace, graders)
        for rule in SUITE_RULES:
            if rule.find_in is not None:
                yield from guarded(rule.name, partial(rule.find_in, view, touched))

    @cached_property
    def _excerpts(self) -> Excerpts:
        told: dict[int, str] = {}
        for problem in self._found[0]:
            if problem.code in _OF_UNKNOWN_KEYS:
                key = self.document.text[problem.span.start : problem.span.end]
                told[problem.span.start] = f"{problem.code} {problem.message.replace(f'`{key}`', '')}"
        return Excerpts(self.document.tree, self.document.kind, self.workspace.catalog, told)

    @cached_property
    def _untold(self) -> frozenset[Key]:
        return frozenset(map(_key, self._found[0])) - frozenset(map(_key, self.problems))

    @cached_property
    def _known(self) -> Counter[Key]:
        return Counter(_key(problem) for problem in self._found[0])

    def _brought(
        self, changes: Changes, repaired: Sequence[Problem], after: Sequence[Problem]
    ) -> list[Problem]:
        """Return the problems that are new, and the repaired ones that are still there.

        A problem is the same if its place is unchanged, or if an edit next to it moved or reworded it.
        """
        gone = Counter(_key(problem) for problem in repaired)
        taken: Counter[Key] = Counter()
        unknown: list[Problem] = []
        for count, problem in enumerate(after):
            if not count % PROBLEMS_PER_CHECKPOINT:
                checkpoint()
            span = changes.before(problem.span)
            key = (problem.code, span.start, span.end, problem.message) if span is not None else None
            if key is not None and taken[key] < self._known[key] and not gone[key]:
                taken[key] += 1
            elif span is None or not self._is_reworded(problem, span, gone):
                unknown.append(problem)
        if not unknown:
            return []
        beside = self._beside(changes)
        left = [
            known
            for known in beside
            if not gone[_key(known)] and taken[_key(known)] < self._known[_key(known)]
        ]
        brought: list[Problem] = []
        for problem in unknown:
            same = _same(problem, left)
            if same is None:
                brought.append(problem)
            else:
                left.remove(same)
        return brought

    def _is_reworded(self, problem: Problem, span: Span, gone: Counter[Key]) -> bool:
        """Return whether an edit elsewhere has only reworded a problem, or lowered its severity."""
        known = self._by_place.get((problem.code, span.start, span.end), ())
        as_bad = SEVERITIES[: SEVERITIES.index(problem.severity) + 1]
        return any(each.severity in as_bad and not gone[_key(each)] for each in known)

    @cached_property
    def _by_place(self) -> dict[tuple[str, int, int], list[Problem]]:
        found: dict[tuple[str, int, int], list[Problem]] = {}
        for problem in self._found[0]:
            found.setdefault((problem.code, problem.span.start, problem.span.end), []).append(problem)
        return found

    def _beside(self, changes: Changes) -> list[Problem]:
        """Return the problems of the items that an edit touches."""
        places = changes.places(self.document.tree)
        starts = [place.start for place in places]
        found: list[Problem] = []
        for problem in self._found[0]:
            index = bisect_right(starts, problem.span.end)
            if index and problem.span.start <= places[index - 1].end:
                found.append(problem)
        return found


def _has_same_faults(before: Tree, after: Tree, changes: Changes) -> bool:
    """Return whether edits leave the unparsed text unchanged, and with it the rest of the tree."""
    if len(before.errors) != len(after.errors):
        return False
    places = (changes.before(fault.span) for fault in after.errors)
    return all(
        old.span == place and old.code == new.code
        for old, new, place in zip(before.errors, after.errors, places, strict=True)
    )


def _is_tolerable(problem: Problem, repaired: Sequence[Problem], *, reveals: bool) -> bool:
    if any(problem.code == each.code and not (reveals and _is_other_key(problem, each)) for each in repaired):
        return False
    if problem.severity in _ADVICE and not any(each.severity in _ADVICE for each in repaired):
        return True
    return reveals


def _is_other_key(problem: Problem, repaired: Problem) -> bool:
    """Return whether a problem is about an unknown key other than the repaired one of that name."""
    return problem.code in _OF_UNKNOWN_KEYS and problem.message != repaired.message


def _same(problem: Problem, left: Sequence[Problem]) -> Problem | None:
    """Return the earlier version of a problem next to an edit: same code, if possible same message."""
    alike = [known for known in left if known.code == problem.code]
    worded = [known for known in alike if known.message == problem.message]
    return next(iter(worded or alike), None)


def _key(problem: Problem) -> Key:
    return problem.code, problem.span.start, problem.span.end, problem.message


def _edits_of(chosen: Sequence[Chosen]) -> list[tuple[Edit, ...]]:
    made: list[tuple[Edit, ...]] = []
    for _, fix in chosen:
        made.append(tuple(fix.edits))
    return made
