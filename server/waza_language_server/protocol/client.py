"""The client, as it introduces itself: its capabilities, and the options that it sends.

The capabilities are resolved once at ``initialize``; handlers ask named questions only.
"""

from __future__ import annotations

from typing import Any, cast

from lsprotocol import types
from pygls.capabilities import get_capability

from waza_engine.frozen import frozen


@frozen()
class ClientAbilities:
    """Each field answers "does the client …?"; false when it did not say."""

    pulls_diagnostics: bool = False
    refreshes_diagnostics: bool = False
    shows_code_lenses: bool = False
    refreshes_code_lenses: bool = False
    refreshes_inlay_hints: bool = False
    refreshes_semantic_tokens: bool = False
    versions_diagnostics: bool = False
    shows_related_information: bool = False
    shows_tags: bool = False
    opens_code_descriptions: bool = False
    knows_code_actions: bool = False
    knows_preferred_actions: bool = False
    versions_edits: bool = False
    creates_files: bool = False
    renames_files: bool = False
    deletes_files: bool = False
    asks_before_renames: bool = False
    inserts_snippets: bool = False
    renders_markdown_in_hover: bool = False
    renders_markdown_in_completion: bool = False
    renders_markdown_in_signatures: bool = False
    strikes_through_deprecated_items: bool = False
    shows_label_details: bool = False
    takes_lines_as_they_are: bool = False
    indents_inserted_lines: bool = False
    shows_progress: bool = False
    watches_files: bool = False
    watches_any_folder: bool = False
    shows_documents: bool = False
    asks_the_user: bool = False
    shows_changes: bool = False
    opens_trials: bool = False
    shows_symbol_trees: bool = False
    most_folds: int = 0
    """How many places to fold the client takes, 0 when it did not say."""


def resolve_abilities(capabilities: types.ClientCapabilities) -> ClientAbilities:
    """Return the answers that a client's capabilities give."""

    def says(path: str) -> Any:
        return cast("Any", get_capability)(capabilities, path, None)

    modes = says("text_document.completion.completion_item.insert_text_mode_support.value_set") or ()
    markdown = types.MarkupKind.Markdown
    versions_edits = bool(says("workspace.workspace_edit.document_changes"))
    operations = says("workspace.workspace_edit.resource_operations") or () if versions_edits else ()
    return ClientAbilities(
        pulls_diagnostics=says("text_document.diagnostic") is not None,
        refreshes_diagnostics=bool(says("workspace.diagnostics.refresh_support")),
        shows_code_lenses=says("text_document.code_lens") is not None,
        refreshes_code_lenses=bool(says("workspace.code_lens.refresh_support")),
        refreshes_semantic_tokens=bool(says("workspace.semantic_tokens.refresh_support")),
        refreshes_inlay_hints=bool(says("workspace.inlay_hint.refresh_support")),
        versions_diagnostics=bool(says("text_document.publish_diagnostics.version_support")),
        shows_related_information=bool(
            says("text_document.publish_diagnostics.related_information")
            or says("text_document.diagnostic.related_information")
        ),
        shows_tags=bool(
            says("text_document.publish_diagnostics.tag_support")
            or says("text_document.diagnostic.tag_support")
        ),
        opens_code_descriptions=bool(
            says("text_document.publish_diagnostics.code_description_support")
            or says("text_document.diagnostic.code_description_support")
        ),
        knows_code_actions=says("text_document.code_action.code_action_literal_support") is not None,
        knows_preferred_actions=bool(says("text_document.code_action.is_preferred_support")),
        versions_edits=versions_edits,
        creates_files=types.ResourceOperationKind.Create in operations,
        renames_files=types.ResourceOperationKind.Rename in operations,
        deletes_files=types.ResourceOperationKind.Delete in operations,
        asks_before_renames=bool(says("workspace.file_operations.will_rename")),
        inserts_snippets=bool(says("text_document.completion.completion_item.snippet_support")),
        renders_markdown_in_hover=markdown in (says("text_document.hover.content_format") or ()),
        renders_markdown_in_completion=markdown
        in (says("text_document.completion.completion_item.documentation_format") or ()),
        renders_markdown_in_signatures=markdown
        in (says("text_document.signature_help.signature_information.documentation_format") or ()),
        strikes_through_deprecated_items=says("text_document.completion.completion_item.tag_support")
        is not None,
        shows_label_details=bool(says("text_document.completion.completion_item.label_details_support")),
        takes_lines_as_they_are=types.InsertTextMode.AsIs in modes,
        indents_inserted_lines=types.InsertTextMode.AdjustIndentation in modes,
        shows_symbol_trees=bool(says("text_document.document_symbol.hierarchical_document_symbol_support")),
        most_folds=says("text_document.folding_range.range_limit") or 0,
        shows_progress=bool(says("window.work_done_progress")),
        asks_the_user=says("window.show_message") is not None,
        shows_documents=bool(says("window.show_document.support")),
        watches_files=bool(says("workspace.did_change_watched_files.dynamic_registration")),
        watches_any_folder=bool(says("workspace.did_change_watched_files.relative_pattern_support")),
    )


LIVE_WORDS = ("on", "off", "no assertions")


@frozen()
class ShownKinds:
    """The kinds of lenses or hints that a client shows: all but those that it has switched off."""

    hidden: frozenset[str] = frozenset()
    enabled: bool = True

    def __contains__(self, kind: str) -> bool:
        return self.enabled and kind not in self.hidden

    @staticmethod
    def of(section: object) -> ShownKinds:
        """Return the values of a section of the settings: ``{"enable": true, kind: false, …}``."""
        values = cast("dict[str, object]", section) if isinstance(section, dict) else dict[str, object]()
        hidden = frozenset(kind for kind, value in values.items() if value is False)
        return ShownKinds(hidden - {"enable"}, "enable" not in hidden)


@frozen()
class ClientOptions:
    """``interpreter`` is the Python that runs suites, None for the server's own.

    ``trusted`` says whether code of this workspace may run; it may if a client without workspace trust does
    not say. ``suggest_command`` is a command of the client that opens the list of suggestions,
    ``run_with_command`` one that asks for the options of a run and starts it.
    ``severity`` are severities by code, as received. ``run_events`` says whether the client wants all
    events of runs.
    ``run`` are its settings for runs, as received; ``run_by_folder`` the same by folders' URIs.
    ``shows_changes`` says that it has the command ``waza.showChange``, ``opens_trials`` ``waza.openTrial``,
    ``live`` says whether recorded answers are graded again as a suite is edited: ``on``, ``off`` or
    ``no assertions``; a client that does not say does not want it.
    ``draws_marks`` that it requests ``waza/marks`` after a notification that they have changed.
    ``confirms`` that it answers ``waza/confirm``: modal questions.
    ``creates_files`` that it answers ``waza/createFiles``: it shows new files before it writes them.
    ``reports_json_syntax`` that it reports invalid JSON and duplicate keys itself.
    ``lens`` and ``hints`` are the kinds of lenses and hints that it shows; ``cost`` is what a lens says a run
    will cost.
    """

    interpreter: str | None = None
    trusted: bool = True
    suggest_command: str | None = None
    severity: object = None
    run_events: bool = False
    shows_changes: bool = False
    opens_trials: bool = False
    draws_marks: bool = False
    confirms: bool = False
    creates_files: bool = False
    reports_json_syntax: bool = False
    run_with_command: str | None = None
    run: object = None
    run_by_folder: object = None
    live: str = "off"
    lens: ShownKinds = ShownKinds()
    hints: ShownKinds = ShownKinds()


def client_options(given: object) -> ClientOptions:
    """Return the options of a client; invalid values are ignored, and never grant trust."""
    options = cast("dict[str, object]", given) if isinstance(given, dict) else dict[str, object]()
    interpreter, trusted = options.get("interpreter"), options.get("trusted")
    suggest = options.get("suggestCommand")
    return ClientOptions(
        _word(interpreter),
        trusted is None or trusted is True,
        _word(suggest),
        options.get("severity"),
        options.get("runEvents") is True,
        options.get("showsChanges") is True,
        options.get("opensTrials") is True,
        options.get("drawsMarks") is True,
        options.get("confirms") is True,
        options.get("createsFiles") is True,
        options.get("reportsJsonSyntax") is True,
        _word(options.get("runWithCommand")),
        options.get("run"),
        options.get("runByFolder"),
        live=known_live(options.get("live")) or "off",
        lens=ShownKinds.of(options.get("lens")),
        hints=ShownKinds.of(options.get("hints")),
    )


def known_live(given: object) -> str | None:
    """Return a value of the setting ``waza.live.enable``, None if it is not a valid one."""
    return given if isinstance(given, str) and given in LIVE_WORDS else None


def _word(given: object) -> str | None:
    return given if isinstance(given, str) and given else None
