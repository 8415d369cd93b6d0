/**
 * The lenses of a long file, those in view alone: VS Code moves each of them with every key, and a thousand cost a frame.
 *
 * Of a file with few lenses all are shown. Behind a scrolled view they come a moment later.
 */

import * as vscode from "vscode";
import { CodeLensRequest, type LanguageClient } from "vscode-languageclient/node";

const MOST = 300;
/** Lines above and below what is in view whose lenses are shown, too. */
const AROUND = 100;
const DELAY_MILLISECONDS = 100;

type Provide = (document: vscode.TextDocument, token: vscode.CancellationToken) => vscode.ProviderResult<vscode.CodeLens[]>;

/** What the server said of one version of a document, and the lines whose lenses are shown. */
interface Shown {
    readonly version: number;
    readonly lenses: vscode.CodeLens[];
    readonly lines: readonly vscode.Range[];
}

export class LensesInView implements vscode.Disposable {
    private readonly shown = new Map<string, Shown>();
    /** Documents whose view has moved since the server was asked. */
    private readonly moved = new Set<string>();
    private readonly listeners: vscode.Disposable;
    private timer: NodeJS.Timeout | undefined;

    constructor(private readonly client: () => LanguageClient | undefined) {
        this.listeners = vscode.Disposable.from(
            vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => {
                this.follow(textEditor);
            }),
            vscode.window.onDidChangeVisibleTextEditors((editors) => {
                editors.forEach((editor) => {
                    this.follow(editor);
                });
            }),
            vscode.workspace.onDidCloseTextDocument(({ uri }) => this.shown.delete(uri.toString())),
        );
    }

    /** Answers as a provider of lenses does; `next` asks the server. */
    async provide(document: vscode.TextDocument, token: vscode.CancellationToken, next: Provide): Promise<vscode.CodeLens[]> {
        const [key, { version }] = [document.uri.toString(), document];
        const before = this.shown.get(key);
        const known = this.moved.delete(key) && before?.version === version ? before.lenses : undefined;
        const lenses = known ?? (await next(document, token)) ?? [];
        if (lenses.length <= MOST) {
            this.shown.delete(key);
            return lenses;
        }
        const lines = linesAround(document);
        this.shown.set(key, { version, lenses, lines });
        return lenses.filter(({ range }) => lines.some((each) => each.contains(range.start)));
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.listeners.dispose();
    }

    private follow({ document, visibleRanges }: vscode.TextEditor): void {
        const shown = this.shown.get(document.uri.toString());
        if (shown === undefined || visibleRanges.every((range) => shown.lines.some((each) => each.contains(range)))) {
            return;
        }
        this.moved.add(document.uri.toString());
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            const provider = this.client()?.getFeature(CodeLensRequest.method).getProvider(document);
            provider?.onDidChangeCodeLensEmitter.fire();
        }, DELAY_MILLISECONDS);
    }
}

/** The lines in view in any editor of a document, and some around them. */
function linesAround(document: vscode.TextDocument): vscode.Range[] {
    const editors = vscode.window.visibleTextEditors.filter((editor) => editor.document === document);
    return editors.flatMap(({ visibleRanges }) =>
        visibleRanges.map(({ start, end }) => new vscode.Range(Math.max(0, start.line - AROUND), 0, end.line + AROUND, 0)),
    );
}
