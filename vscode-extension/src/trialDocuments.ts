/**
 * Shows a recorded trial as a read-only document, with marks where the current graders match.
 *
 * The server returns the text and the marks, which are requested again when verdicts change. The user can create a grader from a
 * selection.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { createGraderFromSelection } from "./graderFromSelection";
import { titleOf } from "./itemIds";
import { errorMessage } from "./messages";

const SCHEME = "waza-trial";
export const OPEN_TRIAL = "waza.openTrial";
const LABEL = "words";
const MAX_RULES_PER_LINE = 3;

/** The argument of the server's links: the id of a task and the number of a trial. */
interface TrialReference {
    readonly id: string;
    readonly trial: number;
}

/** The answer of `waza/trialDocument`; see docs/protocol.md. */
interface TrialDocument {
    readonly text: string;
    readonly marks: readonly Mark[];
}

interface Mark {
    readonly range: { readonly start: vscode.Position; readonly end: vscode.Position };
    readonly kind: string;
    readonly words: string;
}

/** The decoration of each kind of mark, in the colours of the theme. */
const STYLES: Readonly<Record<string, vscode.DecorationRenderOptions>> = {
    found: styleOf("diffEditor.insertedTextBackground", "testing.iconPassed"),
    forbidden: styleOf("diffEditor.removedTextBackground", "testing.iconFailed"),
    near: styleOf("editor.findMatchHighlightBackground", "editorWarning.foreground"),
    [LABEL]: {},
};

export class TrialDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<vscode.Uri>();
    readonly onDidChange = this.changed.event;
    private readonly marks = new Map<string, readonly Mark[]>();
    private readonly texts = new Map<string, string>();
    private requestCount = 0;
    private isReloading = false;
    private readonly decorationTypes = new Map(Object.entries(STYLES).map(([kind, options]) => [kind, vscode.window.createTextEditorDecorationType(options)]));
    private readonly registrations: vscode.Disposable;

    /** @param verdictsChanged fires when verdicts have changed */
    constructor(
        private readonly client: () => LanguageClient | undefined,
        ensureRunning: () => Promise<LanguageClient | undefined>,
        verdictsChanged: vscode.Event<unknown>,
    ) {
        this.registrations = vscode.Disposable.from(
            vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
            vscode.commands.registerCommand("waza.createGraderOfSelection", async () => {
                const editor = vscode.window.activeTextEditor;
                if (editor?.document.uri.scheme === SCHEME) {
                    await createGraderFromSelection(await ensureRunning(), editor, JSON.parse(editor.document.uri.query) as TrialReference);
                }
            }),
            vscode.commands.registerCommand(OPEN_TRIAL, async (trial: unknown) => {
                if (isTrialReference(trial)) {
                    await this.open(trial);
                }
            }),
            vscode.window.onDidChangeVisibleTextEditors(() => {
                this.draw();
            }),
            vscode.workspace.onDidChangeTextDocument(({ document }) => {
                if (document.uri.scheme === SCHEME) {
                    this.draw();
                }
            }),
            vscode.workspace.onDidCloseTextDocument(({ uri }) => {
                this.marks.delete(uri.toString());
                this.texts.delete(uri.toString());
            }),
            verdictsChanged(() => void this.reload()),
            this.changed,
            ...this.decorationTypes.values(),
        );
    }

    async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
        return this.texts.get(uri.toString()) ?? (await this.read(uri));
    }

    dispose(): void {
        this.registrations.dispose();
    }

    private async open({ id, trial }: TrialReference): Promise<void> {
        const name = `${titleOf(id)}, trial ${String(trial)}`.replaceAll(/[/\\?#]/gu, "-");
        const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md`, query: JSON.stringify({ id, trial }) });
        this.texts.delete(uri.toString()); // requests the current text
        await this.read(uri);
        this.changed.fire(uri); // updates a document that is already open
        const editor = await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.Beside, preview: true });
        this.draw();
        const [first] = this.marks.get(uri.toString()) ?? [];
        if (first !== undefined) {
            editor.revealRange(rangeOf(first), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
        }
    }

    /** Requests the text and the marks of a trial; after an error the last text stays, without marks. */
    private async read(uri: vscode.Uri): Promise<string> {
        const key = uri.toString();
        try {
            const client = this.client();
            if (client === undefined) {
                throw new Error("The Waza language server is not running.");
            }
            const { text, marks } = await client.sendRequest<TrialDocument>("waza/trialDocument", JSON.parse(uri.query));
            this.marks.set(key, marks);
            this.texts.set(key, text);
            return text;
        } catch (error) {
            this.marks.delete(key);
            return this.texts.get(key) ?? (errorMessage(error));
        }
    }

    /** Requests the open documents again; a call during a reload causes one more reload. */
    private async reload(): Promise<void> {
        this.requestCount += 1;
        if (this.isReloading) {
            return;
        }
        this.isReloading = true;
        for (let done = 0; done !== this.requestCount; ) {
            done = this.requestCount;
            await this.reloadAll();
        }
        this.isReloading = false;
    }

    private async reloadAll(): Promise<void> {
        for (const { uri } of vscode.workspace.textDocuments.filter((each) => each.uri.scheme === SCHEME)) {
            const before = this.texts.get(uri.toString());
            if ((await this.read(uri)) !== before) {
                this.changed.fire(uri);
            }
        }
        this.draw();
    }

    private draw(): void {
        for (const editor of vscode.window.visibleTextEditors.filter((each) => each.document.uri.scheme === SCHEME)) {
            const { uri } = editor.document;
            // Marks belong to one text: draw none until the document shows it.
            const isRead = editor.document.getText() === this.texts.get(uri.toString());
            const marks = isRead ? (this.marks.get(uri.toString()) ?? []) : [];
            for (const [kind, type] of this.decorationTypes) {
                editor.setDecorations(type, kind === LABEL ? labelDecorations(marks, editor.document) : rangeDecorations(marks, kind));
            }
        }
    }
}

function rangeDecorations(marks: readonly Mark[], kind: string): vscode.DecorationOptions[] {
    const found = marks.filter((mark) => mark.kind === kind);
    return found.map((mark) => ({ range: rangeOf(mark), hoverMessage: new vscode.MarkdownString().appendText(mark.words) }));
}

/** Returns the rules of the marks of each line, shown after the line. */
function labelDecorations(marks: readonly Mark[], document: vscode.TextDocument): vscode.DecorationOptions[] {
    const lines = new Map<number, Set<string>>();
    for (const { range, words } of marks) {
        lines.set(range.start.line, (lines.get(range.start.line) ?? new Set()).add(words));
    }
    return [...lines].map(([line, rules]) => {
        const { end } = document.lineAt(line).range;
        const more = rules.size > MAX_RULES_PER_LINE ? [`and ${String(rules.size - MAX_RULES_PER_LINE)} more`] : [];
        const contentText = [...[...rules].slice(0, MAX_RULES_PER_LINE), ...more].join("   ");
        const after = { contentText, color: new vscode.ThemeColor("editorCodeLens.foreground"), margin: "0 0 0 2em" };
        return { range: new vscode.Range(end, end), renderOptions: { after } };
    });
}

function styleOf(background: string, border: string): vscode.DecorationRenderOptions {
    return {
        backgroundColor: new vscode.ThemeColor(background),
        border: "1px solid",
        borderColor: new vscode.ThemeColor(border),
        borderRadius: "2px",
        overviewRulerColor: new vscode.ThemeColor(border),
    };
}

function rangeOf({ range: { start, end } }: Mark): vscode.Range {
    return new vscode.Range(start.line, start.character, end.line, end.character);
}

function isTrialReference(value: unknown): value is TrialReference {
    const { id, trial } = (value ?? {}) as Partial<Record<keyof TrialReference, unknown>>;
    return typeof id === "string" && Number.isInteger(trial);
}
