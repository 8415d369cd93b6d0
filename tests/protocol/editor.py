"""An editor without windows: a real client of the real server, with the abilities of a known editor."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import pytest_lsp
from cattrs import Converter
from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient as PlainClient
from pygls.protocol import default_converter
from pytest_lsp.client import LanguageClient, register_lsp_features

from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol.started_server import CAN_START, StartedServer, start_server
from waza_language_server.project.uris import uri_of
from waza_language_server.text.line_index import LineIndex

TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"
SERVER = (sys.executable, "-m", "waza_language_server", "--stdio")
T = TypeVar("T")
EditorName = Literal["neovim", "visual-studio-code", "emacs"]


class Editor(LanguageClient):
    """What a person would see in it, and what the server wrote to its log."""

    def __init__(self, *, pulls: bool) -> None:
        super().__init__(converter_factory=_converter)
        register_lsp_features(self)
        self.pulls = pulls
        self.log = ""
        self.offered = types.ServerCapabilities()
        self.refreshed: Counter[str] = Counter()
        self.registrations: list[types.Registration] = []
        self.versions: dict[str, int | None] = {}
        self.publications: Counter[str] = Counter()
        self._log_reader: asyncio.Task[None] | None = None
        self.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(self._refresh("inlay hints"))
        self.feature(types.WORKSPACE_CODE_LENS_REFRESH)(self._refresh("code lenses"))
        self.feature(types.CLIENT_REGISTER_CAPABILITY)(partial(self._register))
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._publish))

    def feature(self, feature_name: str, options: Any | None = None) -> Callable[[Any], Any]:
        """Register who hears a message, in place of whoever has heard it until now."""
        self.protocol.fm.features.pop(feature_name, None)
        return super().feature(feature_name, options)

    @property
    def process_id(self) -> int:
        """The process id of the server."""
        assert self._server is not None
        return self._server.pid

    async def start(self) -> None:
        """Start the server, with the current folder and environment."""
        if CAN_START:
            self._talk_to(await start_server())
        else:
            await PlainClient.start_io(self, *SERVER)
        self._log_reader = asyncio.create_task(self._read_log())

    async def stop(self) -> None:
        if self._log_reader is not None:
            await asyncio.wait([self._log_reader], timeout=2)
        await super().stop()

    def open(self, path: Path, text: str | None = None, version: int = 1) -> str:
        """Open a file, with another text than on disk when one is given; return its URI."""
        uri = uri_of(path)
        self.open_uri(uri, path.read_text("utf-8") if text is None else text, version)
        return uri

    def open_uri(self, uri: str, text: str, version: int = 1) -> None:
        """Open a document that need not be a file."""
        item = types.TextDocumentItem(uri, types.LanguageKind.Yaml, version, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def edit(self, uri: str, version: int, *changes: types.TextDocumentContentChangeEvent) -> None:
        """Send changes of a document."""
        identifier = types.VersionedTextDocumentIdentifier(version, uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))

    def replace(self, uri: str, version: int, text: str) -> None:
        """Send a whole new text."""
        self.edit(uri, version, types.TextDocumentContentChangeWholeDocument(text))

    def insert(self, uri: str, version: int, line: int, character: int, text: str) -> None:
        """Type a text."""
        at = types.Position(line, character)
        self.edit(uri, version, types.TextDocumentContentChangePartial(types.Range(at, at), text))

    def close(self, uri: str) -> None:
        """Close a document."""
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def problems(self, uri: str) -> list[types.Diagnostic]:
        """Return the diagnostics of a document: pulled, or as pushed for the newest version."""
        if self.pulls:
            return list((await self.pull(uri)).items)
        await self.until(lambda: uri in self.diagnostics)
        return list(self.diagnostics[uri])

    async def pull(self, uri: str) -> types.RelatedFullDocumentDiagnosticReport:
        """Ask for the diagnostics of a document."""
        identifier = types.TextDocumentIdentifier(uri)
        report = await self.text_document_diagnostic_async(types.DocumentDiagnosticParams(identifier))
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return report

    async def pushed(self, uri: str, version: int) -> list[types.Diagnostic]:
        """Wait for the diagnostics of this version and return them."""
        await self.until(lambda: self.versions.get(uri) == version)
        return list(self.diagnostics[uri])

    async def lenses(self, uri: str) -> list[types.CodeLens]:
        """Return the code lenses of a document."""
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        return list(await self.text_document_code_lens_async(params) or ())

    async def hints(self, uri: str) -> list[types.InlayHint]:
        """Return the inlay hints of a document."""
        everywhere = types.Range(types.Position(0, 0), types.Position(100_000, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everywhere)
        return list(await self.text_document_inlay_hint_async(params) or ())

    async def titles(self, uri: str) -> list[str]:
        """Return the titles of the code lenses of a document."""
        return [lens.command.title for lens in await self.lenses(uri) if lens.command is not None]

    async def labels(self, uri: str) -> list[str]:
        """Return the labels of the inlay hints of a document."""
        return [label_of(hint) for hint in await self.hints(uri)]

    async def labels_until(self, uri: str, is_wanted: Callable[[list[str]], object]) -> list[str]:
        """Ask for the labels of hints until they are as wanted; return the last ones."""
        return await asked_until(lambda: self.labels(uri), is_wanted)

    async def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        """Return the explanation at a position."""
        document, position = types.TextDocumentIdentifier(uri), types.Position(line, character)
        return await self.text_document_hover_async(types.HoverParams(document, position))

    async def complete(self, uri: str, line: int, character: int) -> list[types.CompletionItem]:
        """Return what can be written at a position."""
        document, position = types.TextDocumentIdentifier(uri), types.Position(line, character)
        answer = await self.text_document_completion_async(types.CompletionParams(document, position))
        return list(answer.items if isinstance(answer, types.CompletionList) else answer or ())

    async def actions(self, uri: str, line: int) -> list[types.CodeAction]:
        """Return the quick fixes on a line."""
        everything = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), everything, types.CodeActionContext([])
        )
        found = await self.text_document_code_action_async(params) or ()
        return [action for action in found if isinstance(action, types.CodeAction)]

    async def command(self, name: str, *arguments: Any, token: str | None = None) -> Any:
        """Execute a command of the server."""
        params = types.ExecuteCommandParams(name, list(arguments), work_done_token=token)
        return await self.workspace_execute_command_async(params)

    async def ask(self, method: str, **params: Any) -> Any:
        """Send one of the product's own requests."""
        return await self.protocol.send_request_async(method, params)

    def changed(self, *files: Path, kind: types.FileChangeType = types.FileChangeType.Changed) -> None:
        """Report that files have changed on the disk."""
        changes = [types.FileEvent(uri_of(file), kind) for file in files]
        self.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))

    def saved(self, uri: str) -> None:
        """Report that a document was saved."""
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def configure(self, **settings: Any) -> None:
        """Change the settings of the product."""
        self.workspace_did_change_configuration(types.DidChangeConfigurationParams({"waza": settings}))

    async def until(self, condition: Callable[[], object], seconds: float = 60) -> None:
        """Wait until the condition holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain; the server's log:\n{self.log}"
            await asyncio.sleep(0.01)

    def _talk_to(self, server: StartedServer) -> None:
        self._server = cast("asyncio.subprocess.Process", server)
        self.protocol.set_writer(server.stdin)
        reading = run_async(
            stop_event=self._stop_event,
            reader=server.stdout,
            protocol=self.protocol,
            error_handler=self.report_server_error,
        )
        self._async_tasks += [asyncio.create_task(reading), asyncio.create_task(self._server_exit())]

    async def _read_log(self) -> None:
        assert self._server is not None
        assert self._server.stderr is not None
        while data := await self._server.stderr.read(65_536):
            self.log += data.decode("utf-8", "replace")

    def _refresh(self, what: str) -> Callable[[None], None]:
        def refresh(_params: None) -> None:
            self.refreshed[what] += 1

        return refresh

    def _register(self, params: types.RegistrationParams) -> None:
        self.registrations += params.registrations

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self.diagnostics[params.uri] = params.diagnostics
        self.versions[params.uri] = params.version
        self.publications[params.uri] += 1


@asynccontextmanager
async def editing(
    folder: Path | None,
    name: EditorName = "visual-studio-code",
    *,
    pulls: bool = False,
    snippets: bool = True,
    asks: bool = True,
    encodings: Sequence[types.PositionEncodingKind] | None = None,
    options: dict[str, Any] | None = None,
    log_of_errors: bool = False,
    limit: Callable[[types.ClientCapabilities], None] = lambda _: None,
) -> AsyncGenerator[Editor]:
    """Start an editor with this folder open, or none; at the end the server's log must be free of exceptions.

    ``pulls`` makes it ask for diagnostics, as VS Code does since 1.73, instead of waiting for them; without
    ``asks`` it has no way to show a question of the server. ``limit`` takes other abilities from it.
    """
    capabilities = deepcopy(_capabilities(name))
    if encodings is not None:
        capabilities.general = capabilities.general or types.GeneralClientCapabilities()
        capabilities.general.position_encodings = encodings
    assert capabilities.text_document is not None
    assert capabilities.workspace is not None
    capabilities.text_document.diagnostic = types.DiagnosticClientCapabilities() if pulls else None
    capabilities.text_document.publish_diagnostics = types.PublishDiagnosticsClientCapabilities(
        related_information=True, version_support=True
    )
    capabilities.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=pulls)
    if not snippets:
        capabilities.text_document.completion = types.CompletionClientCapabilities()
    editor = Editor(pulls=pulls)
    await editor.start()
    if not asks and capabilities.window is not None:
        capabilities.window.show_message = None
    limit(capabilities)
    root = None if folder is None else uri_of(folder)
    introduced = await editor.initialize_session(
        types.InitializeParams(
            capabilities=capabilities,
            root_uri=root,
            workspace_folders=[types.WorkspaceFolder(root, "")] if root else None,
            initialization_options=options,
        )
    )
    editor.offered = introduced.capabilities
    try:
        yield editor
    finally:
        await editor.shutdown_session()
        await editor.stop()
    if not log_of_errors:
        assert "Traceback" not in editor.log, editor.log
        assert "ERROR" not in editor.log, editor.log


def is_told_to_ask_again(capabilities: types.ClientCapabilities) -> None:
    """Let an editor take the request to ask for inlay hints again, as all known ones do."""
    assert capabilities.workspace is not None
    capabilities.workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)


@cache
def _converter() -> Converter:
    """Return the one converter of all editors; each would compile the whole protocol again for itself."""
    return default_converter()


@cache
def _capabilities(name: EditorName) -> types.ClientCapabilities:
    return pytest_lsp.client_capabilities(name)


async def asked_until(ask: Callable[[], Awaitable[T]], is_wanted: Callable[[T], object]) -> T:
    """Ask again until the answer is the wanted one; return the last answer."""
    found = await ask()
    for _ in range(int(ON_A_BUSY_MACHINE * 20)):
        if is_wanted(found):
            break
        await asyncio.sleep(0.05)
        found = await ask()
    return found


def label_of(hint: types.InlayHint) -> str:
    """Return the label of a hint, whatever it consists of."""
    return hint.label if isinstance(hint.label, str) else "".join(part.value for part in hint.label)


def suite_with(graders: str) -> str:
    """Return an eval file with these graders, whose tasks are files."""
    config = "{trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}"
    return f'name: explains\nskill: explainer\nconfig: {config}\ntasks: ["tasks/*.yaml"]\n{graders}'


def write_suite(folder: Path, evaluation: str, **tasks: str) -> Path:
    """Write an eval file and its tasks; return the path of the eval file."""
    (folder / "tasks").mkdir(parents=True, exist_ok=True)
    for name, text in tasks.items():
        (folder / "tasks" / f"{name}.yaml").write_text(text, "utf-8")
    path = folder / "eval.yaml"
    path.write_text(evaluation, "utf-8")
    return path


def edits_of(action: types.CodeAction, uri: str) -> list[types.TextEdit]:
    """Return the edits of a quick fix, with or without a version."""
    assert action.edit is not None
    if action.edit.changes is not None:
        return list(action.edit.changes[uri])
    (change,) = list(action.edit.document_changes or ())
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.uri == uri
    return [edit for edit in change.edits if isinstance(edit, types.TextEdit)]


def applied(text: str, edits: Sequence[types.TextEdit], encoding: str = "utf-16") -> str:
    """Return the text after edits, as a client applies them."""
    lines = LineIndex(text)

    def offset(position: types.Position) -> int:
        return lines.offset(position.line, position.character, encoding)  # type: ignore[arg-type]

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text
