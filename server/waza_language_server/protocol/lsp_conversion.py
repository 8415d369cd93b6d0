"""Between the editor words of the core and the words of the protocol.

Architecture invariant: offsets become positions here and nowhere else, in the encoding that the client chose;
and what editors show as plain text passes through ``labels`` or ``visible`` here (Markdown is quoted where it
is made).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lsprotocol import types

from waza_engine.markdown import code, plain
from waza_engine.terminal import visible, visible_lines
from waza_language_server.documentation import diagnostic_page
from waza_language_server.features.runnables.code_lens import CANCEL
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.text.label_escaping import label
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.embedded.language import Signature
    from waza_language_server.features.actions.code_actions import CodeAction
    from waza_language_server.features.completion.complete import Completion, Completions
    from waza_language_server.features.hover.hover import Hover
    from waza_language_server.features.runnables.code_lens import CodeLens
    from waza_language_server.features.runnables.runnables import Runnable
    from waza_language_server.features.scores.inlay_hints import InlayHint
    from waza_language_server.features.scores.live_text import TrialLocation
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.protocol.client import ClientAbilities
    from waza_language_server.text.edit import Related
    from waza_language_server.text.line_index import Encoding

_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_TAG = {"unnecessary": types.DiagnosticTag.Unnecessary, "deprecated": types.DiagnosticTag.Deprecated}

_COMPLETION_KIND = {
    "key": types.CompletionItemKind.Property,
    "grader": types.CompletionItemKind.Class,
    "value": types.CompletionItemKind.EnumMember,
    "constant": types.CompletionItemKind.Constant,
    "reference": types.CompletionItemKind.Reference,
    "file": types.CompletionItemKind.File,
    "folder": types.CompletionItemKind.Folder,
    "model": types.CompletionItemKind.Module,
    "variable": types.CompletionItemKind.Variable,
    "function": types.CompletionItemKind.Function,
    "field": types.CompletionItemKind.Field,
}


LONGEST_MESSAGE = 2_000
"""Characters; names in a file can be as long as the file, and nobody reads that."""


MAX_CHANGES = 10
"""The most changed files that one mark links to."""
SHOW_CHANGE = "waza.showChange"
"""A command of clients that show a file next to its version at a run."""
OPEN_TRIAL = "waza.openTrial"
"""A command of clients that show a recorded trial."""


class Converter:
    """Converts what belongs to one document."""

    def __init__(
        self, document: Document | SkillFile, encoding: Encoding, abilities: ClientAbilities
    ) -> None:
        self._document = document
        self._encoding: Encoding = encoding
        self._abilities = abilities
        self._labels: dict[str, str] = {}
        self._last: tuple[Span, types.Range] | None = None

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position; one after the end of a line or the text counts as that end."""
        return self._document.lines.offset(position.line, position.character, self._encoding)

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        return types.Position(*self._document.lines.position(offset, self._encoding))

    def span(self, place: types.Range) -> Span:
        """Return the span of a range."""
        start = self.offset(place.start)
        return Span(start, max(self.offset(place.end), start))

    def range(self, span: Span) -> types.Range:
        """Return the range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def code_lens(self, lens: CodeLens) -> types.CodeLens:
        """Return a lens with its command."""
        # Thousands have one of few titles, and several the same place.
        if lens.title not in self._labels:
            self._labels[lens.title] = label(lens.title)
        if self._last is None or self._last[0] != lens.span:
            self._last = lens.span, self.range(lens.span)
        command = types.Command(self._labels[lens.title], lens.command, arguments=[lens.argument])
        return types.CodeLens(self._last[1], command)

    def run_action(self, lens: CodeLens, kind: str) -> types.CodeAction:
        """Return a lens as an action; who shows no lenses gives a command few seconds, a run takes more."""
        runs = lens.kind in ("run", "affected") and lens.command != CANCEL
        argument = {**lens.argument, "wait": False} if runs else lens.argument
        title = label(lens.title)
        return types.CodeAction(title, kind, command=types.Command(title, lens.command, arguments=[argument]))

    def runnable(self, runnable: Runnable) -> dict[str, Any]:
        """Return one answer of ``waza/runnables``."""
        start, end = self.range(runnable.span).start, self.range(runnable.span).end
        return {
            "id": str(runnable.id),
            "kind": runnable.id.kind,
            "label": label(runnable.label),
            "range": {
                "start": {"line": start.line, "character": start.character},
                "end": {"line": end.line, "character": end.character},
            },
            "parent": None if runnable.id.parent is None else str(runnable.id.parent),
        }

    def hover(self, hover: Hover) -> types.Hover:
        """Return an explanation."""
        markup = _markup(hover.text, markdown=self._abilities.renders_markdown_in_hover)
        return types.Hover(markup, self.range(hover.span))

    def signature(self, signature: Signature) -> types.SignatureHelp:
        """Return how a function is called."""
        documentation = _markup(
            signature.documentation, markdown=self._abilities.renders_markdown_in_signatures
        )
        parameters = [types.ParameterInformation(each) for each in signature.parameters]
        called = types.SignatureInformation(
            signature.label,
            documentation if signature.documentation else None,
            parameters,
            # Left out it would be null, which newer clients read as "none".
            active_parameter=signature.active if parameters else None,
        )
        return types.SignatureHelp([called], 0, signature.active)

    def trial_link(self, place: TrialLocation) -> str:
        """Return in Markdown what opens a recorded trial, "" for a client that cannot."""
        return _command_link(_open_trial(place)) if self._abilities.opens_trials else ""

    def inlay_hints(self, hints: Sequence[InlayHint]) -> Iterator[types.InlayHint]:
        """Yield hints in their order, those at one place with some room between them."""
        for number, hint in enumerate(hints, 1):
            crowded = number < len(hints) and hints[number].offset == hint.offset
            yield self._inlay_hint(hint, crowded=crowded)

    def _inlay_hint(self, hint: InlayHint, *, crowded: bool) -> types.InlayHint:
        """Return a hint with its tooltip."""
        shown: str | list[types.InlayHintLabelPart] = label(hint.label)
        text = hint.tooltip
        if self._abilities.shows_changes and hint.changes:
            commands = [_show_change(change) for change in hint.changes[:MAX_CHANGES]]
            shown = [types.InlayHintLabelPart(label(hint.label), command=commands[0])]
            text = "\n\n".join([text, *map(_command_link, commands)])
        elif self._abilities.opens_trials and hint.trials:
            commands = list(map(_open_trial, hint.trials))
            shown = [types.InlayHintLabelPart(label(hint.label), command=commands[0])]
            text = "\n\n".join([text, " · ".join(map(_command_link, commands))])
        tooltip = types.MarkupContent(types.MarkupKind.Markdown, text) if text else None
        found = types.InlayHint(self.position(hint.offset), shown, padding_left=True, tooltip=tooltip)
        if crowded:
            # The room before the next one alone is half a letter in some editors: the two read as one.
            found.padding_right = True
        return found

    def completions(
        self, completions: Completions, suggest_command: str | None = None
    ) -> types.CompletionList:
        """Return what can be written, best first; the client's command opens the next list."""
        items = [self._completion(item, suggest_command) for item in completions.items]
        return types.CompletionList(completions.incomplete, items)

    def code_action(
        self, action: CodeAction, edit: types.WorkspaceEdit, project: Project
    ) -> types.CodeAction:
        """Return a change, converted, with the problems that it repairs."""
        return types.CodeAction(
            visible(action.title),
            types.CodeActionKind(action.kind),
            diagnostics=[self.diagnostic(problem, project) for problem in action.problems],
            is_preferred=action.preferred if self._abilities.knows_preferred_actions else None,
            edit=edit,
        )

    def diagnostic(self, problem: Problem, project: Project) -> types.Diagnostic:
        """Return a problem as the client may show it."""
        abilities = self._abilities
        diagnostic = types.Diagnostic(
            range=self.range(problem.span),
            message=visible_lines(_shortened(problem.message)),
            severity=_SEVERITY[problem.severity],
            code=problem.code,
            source="waza",
        )
        if abilities.opens_code_descriptions:
            diagnostic.code_description = types.CodeDescription(diagnostic_page(problem.code))
        if problem.tag and abilities.shows_tags:
            diagnostic.tags = [_TAG[problem.tag]]
        if problem.related and abilities.shows_related_information:
            diagnostic.related_information = [
                types.DiagnosticRelatedInformation(
                    self._location(place, project), visible_lines(place.message)
                )
                for place in problem.related
            ]
        return diagnostic

    def _completion(self, completion: Completion, suggest_command: str | None) -> types.CompletionItem:
        abilities = self._abilities
        snippet = completion.is_snippet and abilities.inserts_snippets
        text = completion.edit.text if snippet else completion.text_without_placeholders
        shown = label(completion.label)
        item = types.CompletionItem(
            shown,
            kind=_COMPLETION_KIND[completion.kind],
            detail=visible(completion.detail) or None,
            sort_text=completion.sort_text,
            filter_text=completion.filter_text or (completion.label if shown != completion.label else None),
            insert_text_format=types.InsertTextFormat.Snippet if snippet else None,
        )
        if "\n" in text:
            text, item.insert_text_mode = self._indented(completion.edit.span.start, text, snippet=snippet)
        item.text_edit = types.TextEdit(self.range(completion.edit.span), text)
        if completion.documentation:
            markdown = abilities.renders_markdown_in_completion
            item.documentation = _markup(completion.documentation, markdown=markdown)
        if completion.suggests_more and suggest_command is not None:
            item.command = types.Command("Suggest", suggest_command)
        if completion.command is not None:
            command, argument = completion.command
            item.command = types.Command(shown, command, arguments=[argument])
        if completion.deprecated and abilities.strikes_through_deprecated_items:
            item.tags = [types.CompletionItemTag.Deprecated]
        return item

    def _indented(self, start: int, text: str, *, snippet: bool) -> tuple[str, types.InsertTextMode | None]:
        """Return text of several lines as this client inserts it in its place, and the mode to name.

        The core gives the lines relative to the indentation of the first. Clients that take them as they are
        get them indented; those that say nothing do so too, unless for a snippet: snippet engines indent it.
        """
        if not self._abilities.takes_lines_as_they_are:
            if self._abilities.indents_inserted_lines:
                return text, types.InsertTextMode.AdjustIndentation
            if snippet:
                return text, None
        row = self._document.lines.line_span(self._document.lines.line_of(start))
        before = self._document.text[row.start : start]
        indent = before[: len(before) - len(before.lstrip(" "))]
        mode = types.InsertTextMode.AsIs if self._abilities.takes_lines_as_they_are else None
        return text.replace("\n", f"\n{indent}"), mode

    def _location(self, place: Related, project: Project) -> types.Location:
        uri, span = place.uri, place.span
        if uri is None or uri == self._document.uri:
            return types.Location(self._document.uri, self.range(span))
        path = path_of(uri)
        opened = project.documents.get(path) if path else None
        text = opened.text if opened else project.text(path).value if path else ""
        lines = opened.lines if opened else LineIndex(text)
        start, end = (types.Position(*lines.position(at, self._encoding)) for at in (span.start, span.end))
        return types.Location(opened.uri if opened else uri, types.Range(start, end))


def _markup(text: str, *, markdown: bool) -> types.MarkupContent:
    if markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.MarkupContent(types.MarkupKind.PlainText, plain(text))


def _shortened(message: str) -> str:
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"


def _show_change(change: ChangedInput) -> types.Command:
    argument = {"results": str(change.results), "path": change.recorded, "uri": uri_of(change.path)}
    return types.Command(label(f"Show {change.words}"), SHOW_CHANGE, arguments=[argument])


def _open_trial(place: TrialLocation) -> types.Command:
    argument = {"id": str(RunnableId(place.suite, place.task)), "trial": place.trial}
    mark = "✓" if place.passed else "✗"
    title = label(f"Open {mark} {place.task}, trial {place.trial}")
    return types.Command(title, OPEN_TRIAL, arguments=[argument])


def _command_link(command: types.Command) -> str:
    arguments = quote(json.dumps(command.arguments), safe="")
    return f"[{code(command.title)}](command:{command.command}?{arguments})"
