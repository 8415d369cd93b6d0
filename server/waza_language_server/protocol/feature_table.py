"""Every message and its handler: a new feature is a handler and a row here.

Architecture invariant: a handler is imported when its first message comes. Nothing but ``pygls`` is needed to
answer ``initialize``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

from lsprotocol import types

from waza_engine.frozen import frozen
from waza_language_server.embedded.language import TokenKind, TokenPart
from waza_language_server.protocol.own_requests import (
    AFFECTED,
    FILE_MARKS,
    LENSES_IN_RANGE,
    MARKS,
    MODELS,
    NEW_GRADERS,
    RECORDED_RUNS,
    RECORDED_TEXT,
    RESULT_DOCUMENT,
    REVIEWS,
    RUNNABLES,
    STALE_RESULTS,
    SUITE_STATE,
    TESTS,
    TRIAL_DOCUMENT,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from waza_language_server.protocol.connection import ClientConnection


@frozen()
class Feature:
    """A row of the table. ``handler`` is a function of a module in ``protocol.handlers``.

    One that is called ``at once`` answers before the next message is taken, at a checkpoint of a diagnosis
    too; one that is ``awaited`` is a coroutine, which begins when the running work gives way or ends, and may
    wait for others. ``options`` are sent to the client. ``built_in`` replaces the handler that ``pygls`` has
    for such a message.
    """

    method: str
    handler: str
    when: Literal["at once", "awaited"] = "at once"
    options: Any = None
    built_in: bool = False

    @property
    def function(self) -> Callable[[ClientConnection, Any], Any]:
        """Return the handler of the message; its module is imported at the first call."""

        def handle(ls: ClientConnection, params: Any) -> Any:
            return _load(self.handler)(ls, params)

        async def handle_awaited(ls: ClientConnection, params: Any) -> Any:
            return await _load(self.handler)(ls, params)

        return handle if self.when == "at once" else handle_awaited


KINDS: tuple[str, ...] = get_args(TokenKind)
PARTS: tuple[str, ...] = tuple(filter(None, get_args(TokenPart)))
LEGEND = types.SemanticTokensLegend(list(KINDS), list(PARTS))
_EVERY_FILE = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**/*"), scheme="file")]
)
FEATURES = (
    Feature(types.INITIALIZE, "lifecycle.initialize"),
    Feature(types.INITIALIZED, "lifecycle.initialized", built_in=True),
    Feature(types.TEXT_DOCUMENT_DID_OPEN, "documents.did_open", built_in=True),
    Feature(types.TEXT_DOCUMENT_DID_CHANGE, "documents.did_change", built_in=True),
    Feature(types.TEXT_DOCUMENT_DID_CLOSE, "documents.did_close", built_in=True),
    Feature(
        types.TEXT_DOCUMENT_DID_SAVE, "documents.did_save", options=types.SaveOptions(include_text=False)
    ),
    Feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, "watched_files.did_change"),
    Feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, "watched_files.did_change_folders"),
    Feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION, "configuration.did_change"),
    Feature(
        types.TEXT_DOCUMENT_COMPLETION,
        "completion.completion",
        options=types.CompletionOptions(
            trigger_characters=[":", " ", "-", "/", "'", '"', ".", "["], resolve_provider=False
        ),
    ),
    Feature(
        types.TEXT_DOCUMENT_ON_TYPE_FORMATTING,
        "completion.indent",
        options=types.DocumentOnTypeFormattingOptions("\n"),
    ),
    Feature(types.TEXT_DOCUMENT_HOVER, "hover.hover"),
    Feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        "completion.signature_help",
        options=types.SignatureHelpOptions(trigger_characters=["(", ","]),
    ),
    Feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, "semantic_tokens.full", options=LEGEND),
    Feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, "semantic_tokens.delta"),
    Feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, "semantic_tokens.in_range"),
    Feature(types.TEXT_DOCUMENT_CODE_LENS, "code_lens.code_lens", options=types.CodeLensOptions()),
    Feature(LENSES_IN_RANGE, "code_lens.in_range"),
    Feature(types.TEXT_DOCUMENT_INLAY_HINT, "scores.inlay_hint", options=types.InlayHintOptions()),
    Feature(RUNNABLES, "runnables.runnables"),
    Feature(SUITE_STATE, "runnables.suite_state"),
    Feature(RECORDED_TEXT, "results.recorded_text"),
    Feature(MARKS, "scores.marks"),
    Feature(FILE_MARKS, "scores.file_marks", "awaited"),
    Feature(TESTS, "runnables.tests", "awaited"),
    Feature(STALE_RESULTS, "runnables.stale_results", "awaited"),
    Feature(RESULT_DOCUMENT, "results.result_document", "awaited"),
    Feature(TRIAL_DOCUMENT, "results.trial_document", "awaited"),
    Feature(NEW_GRADERS, "scaffolding.new_graders", "awaited"),
    Feature(RECORDED_RUNS, "results.recorded_runs", "awaited"),
    Feature(AFFECTED, "runs.affected", "awaited"),
    Feature(MODELS, "runs.models", "awaited"),
    Feature(REVIEWS, "results.reviews", "awaited"),
    Feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        "code_action.code_action",
        "awaited",
        types.CodeActionOptions(
            code_action_kinds=[
                types.CodeActionKind.QuickFix,
                types.CodeActionKind.RefactorExtract,
                types.CodeActionKind.RefactorInline,
                types.CodeActionKind.RefactorMove,
                types.CodeActionKind.RefactorRewrite,
                types.CodeActionKind.SourceFixAll,
            ],
            resolve_provider=False,
        ),
    ),
    Feature(types.TEXT_DOCUMENT_DEFINITION, "navigation.definition", options=types.DefinitionOptions()),
    Feature(types.TEXT_DOCUMENT_REFERENCES, "navigation.references", options=types.ReferenceOptions()),
    Feature(
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        "navigation.highlights",
        options=types.DocumentHighlightOptions(),
    ),
    Feature(
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
        "document_structure.document_symbols",
        options=types.DocumentSymbolOptions(),
    ),
    Feature(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        "document_structure.folding_ranges",
        options=types.FoldingRangeOptions(),
    ),
    Feature(
        types.TEXT_DOCUMENT_SELECTION_RANGE,
        "document_structure.selection_ranges",
        options=types.SelectionRangeOptions(),
    ),
    Feature(
        types.TEXT_DOCUMENT_DOCUMENT_LINK,
        "document_structure.links",
        options=types.DocumentLinkOptions(),
    ),
    Feature(
        types.WORKSPACE_SYMBOL, "navigation.workspace_symbols", "awaited", types.WorkspaceSymbolOptions()
    ),
    Feature(types.TEXT_DOCUMENT_RENAME, "renames.rename", options=types.RenameOptions(prepare_provider=True)),
    Feature(types.TEXT_DOCUMENT_PREPARE_RENAME, "renames.prepare"),
    Feature(types.WORKSPACE_WILL_RENAME_FILES, "renames.will_rename", "awaited", _EVERY_FILE),
    Feature(types.WORKSPACE_WILL_DELETE_FILES, "renames.will_delete", "awaited", _EVERY_FILE),
    Feature(types.WORKSPACE_DID_CREATE_FILES, "renames.did_create", options=_EVERY_FILE),
    Feature(types.WORKSPACE_DID_RENAME_FILES, "renames.did_rename", options=_EVERY_FILE),
    Feature(types.WORKSPACE_DID_DELETE_FILES, "renames.did_delete", options=_EVERY_FILE),
    Feature(
        types.WINDOW_WORK_DONE_PROGRESS_CANCEL,
        "runs.progress_cancelled",
        "awaited",
        built_in=True,
    ),
)

COMMANDS: Mapping[str, str] = {
    "waza.run": "runs.run",
    "waza.runAffected": "runs.run_affected",
    "waza.regrade": "grading.regrade",
    "waza.strength": "grading.measure",
    "waza.review": "results.review",
    "waza.testBed": "choose_live_source.choose_baseline",
    "waza.cancel": "runs.cancel",
    "waza.restartEngine": "runs.restart_engine",
    "waza.newSuite": "scaffolding.new_suite",
    "waza.convert": "scaffolding.convert",
    "waza.newTask": "scaffolding.new_task",
    "waza.checkTaskId": "scaffolding.check_task_id",
    "waza.newGrader": "scaffolding.new_grader",
    "waza.newGraderFromText": "scaffolding.new_grader_from_text",
    "waza.saveRecordAsTask": "scaffolding.save_record_as_task",
    "waza.graderTypes": "scaffolding.grader_types",
    "waza.harness": "harness.harness",
}
"""The commands of ``workspace/executeCommand``, each with its handler.

It is a coroutine of the server, the arguments, and the client's token for progress or None.
"""

PULLED_DIAGNOSTICS = Feature(
    types.TEXT_DOCUMENT_DIAGNOSTIC,
    "documents.pull",
    "awaited",
    types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="waza"),
)
PULLED_WORKSPACE_DIAGNOSTICS = Feature(types.WORKSPACE_DIAGNOSTIC, "documents.pull_workspace", "awaited")
"""Both only for clients that ask for diagnostics themselves, which then get none pushed."""


async def execute(ls: ClientConnection, params: types.ExecuteCommandParams) -> Any:
    """Execute a command."""
    place = COMMANDS.get(params.command)
    if place is None:
        from waza_language_server.protocol.messages import refused

        raise refused(f"There is no command {params.command:.100}.")
    return await _load(place)(ls, params.arguments or (), params.work_done_token)


def _load(place: str) -> Callable[..., Any]:
    module, _, function = place.rpartition(".")
    return getattr(import_module(f"waza_language_server.protocol.handlers.{module}"), function)
