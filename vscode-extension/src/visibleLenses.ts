/**
 * Requests only the visible lenses of a long file: VS Code moves every lens at each key press, and a thousand of them cost a frame.
 *
 * Short files show all lenses. After scrolling, the lenses of a long file appear after a short delay.
 */

import * as vscode from "vscode";
import { CodeLensRequest, type CodeLens, type LanguageClient } from "vscode-languageclient/node";

/** A file with more lines is long. */
const LONG_FILE_LINES = 1_000;
/** The number of lines above and below the visible ones that also show lenses. */
const MARGIN_LINES = 50;
const DELAY_MILLISECONDS = 100;

type Provide = (document: vscode.TextDocument, token: vscode.CancellationToken) => vscode.ProviderResult<vscode.CodeLens[]>;

export class VisibleLenses implements vscode.Disposable {
    /** The lines whose lenses are shown, by the URI of a long document. */
    private readonly shown = new Map<string, readonly vscode.Range[]>();
    private readonly listeners: vscode.Disposable;
    private timer: NodeJS.Timeout | undefined;

    constructor(private readonly client: () => LanguageClient | undefined) {
        this.listeners = vscode.Disposable.from(
            vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => {
                this.refreshIfMoved(textEditor);
            }),
            vscode.window.onDidChangeVisibleTextEditors((editors) => {
                editors.forEach((editor) => {
                    this.refreshIfMoved(editor);
                });
            }),
            vscode.workspace.onDidCloseTextDocument(({ uri }) => this.shown.delete(uri.toString())),
        );
    }

    /** Returns the lenses of a document; `next` requests those of the whole document. */
    async provide(document: vscode.TextDocument, token: vscode.CancellationToken, next: Provide): Promise<vscode.CodeLens[]> {
        const client = this.client();
        if (document.lineCount <= LONG_FILE_LINES || !["yaml", "json"].includes(document.languageId) || client === undefined) {
            this.shown.delete(document.uri.toString());
            return (await next(document, token)) ?? [];
        }
        const lines = linesAround(document);
        this.shown.set(document.uri.toString(), lines);
        const found = await Promise.all(lines.map((range) => lensesIn(client, document, range, token)));
        return client.protocol2CodeConverter.asCodeLenses(found.flat(), token);
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.listeners.dispose();
    }

    private refreshIfMoved({ document, visibleRanges }: vscode.TextEditor): void {
        const shown = this.shown.get(document.uri.toString());
        if (shown === undefined || visibleRanges.every((range) => shown.some((each) => each.contains(range)))) {
            return;
        }
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            const provider = this.client()?.getFeature(CodeLensRequest.method).getProvider(document);
            provider?.onDidChangeCodeLensEmitter.fire();
        }, DELAY_MILLISECONDS);
    }
}

async function lensesIn(
    client: LanguageClient,
    document: vscode.TextDocument,
    range: vscode.Range,
    token: vscode.CancellationToken,
): Promise<CodeLens[]> {
    const converter = client.code2ProtocolConverter;
    const params = { textDocument: converter.asTextDocumentIdentifier(document), range: converter.asRange(range) };
    try {
        return (await client.sendRequest<CodeLens[] | null>("waza/codeLenses", params, token)) ?? [];
    } catch (error) {
        return client.handleFailedRequest(CodeLensRequest.type, token, error, []);
    }
}

/** Returns the visible lines in all editors of a document, with margins; overlapping ranges are merged. */
function linesAround(document: vscode.TextDocument): vscode.Range[] {
    const editors = vscode.window.visibleTextEditors.filter((editor) => editor.document === document);
    const views = editors.flatMap(({ visibleRanges }) =>
        visibleRanges.map(({ start, end }) => new vscode.Range(Math.max(0, start.line - MARGIN_LINES), 0, end.line + MARGIN_LINES, 0)),
    );
    const merged: vscode.Range[] = [];
    for (const view of views.sort((one, other) => one.start.compareTo(other.start))) {
        const last = merged.at(-1);
        if (last?.end.isAfterOrEqual(view.start)) {
            merged[merged.length - 1] = last.union(view);
        } else {
            merged.push(view);
        }
    }
    return merged;
}
