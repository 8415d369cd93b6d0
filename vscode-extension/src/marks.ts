/**
 * Draws the verdicts of lines and files in their last run: icons in the gutter, stripes in the overview ruler, badges in the Explorer.
 *
 * The icons differ in shape and in colour. The colours are those of Okabe and Ito, which can be distinguished with any colour vision,
 * darker on light themes.
 */

import * as vscode from "vscode";
import { State, type LanguageClient } from "vscode-languageclient/node";
import { isSkillFile, mayBeEvals } from "./suiteFiles";

type MarkState = "passed" | "failed" | "error" | "pending";
const STATES: readonly MarkState[] = ["passed", "failed", "error", "pending"];
const DELAY_MS = 150;
/** After a keystroke: nobody notices while typing that a mark becomes stale later. */
const TYPING_DELAY_MS = 300;

/** An answer of `waza/marks`. */
interface Mark {
    readonly line: number;
    readonly state: MarkState;
    readonly stale: boolean;
    /** True if the Test Explorer has an item for it, whose icon is in the gutter. */
    readonly isTest?: boolean;
}

/** An answer of `waza/fileMarks`. */
export interface FileMark {
    readonly uri: string;
    readonly state: MarkState;
    readonly reason: string;
}

/** The files whose last run did not pass, by their URIs as VS Code writes them. */
export type FileMarks = ReadonlyMap<string, FileMark>;

const SHAPES: Record<MarkState, string> = {
    passed: "M3 8.5l3.2 3.2L13 4.8",
    failed: "M4 4l8 8M12 4l-8 8",
    error: "M8 3v6.5M8 12v1.2",
    pending: "M5 3h6L5 13h6z",
};
const ON_DARK: Record<MarkState, string> = { passed: "#29c79a", failed: "#ff8c42", error: "#f0c929", pending: "#8fbfe8" };
const ON_LIGHT: Record<MarkState, string> = { passed: "#006b4f", failed: "#b34700", error: "#7a5c00", pending: "#00558c" };
const RULER: Record<MarkState, string> = {
    passed: "testing.iconPassed",
    failed: "testing.iconFailed",
    error: "testing.iconErrored",
    pending: "testing.iconQueued",
};
const BADGES: Partial<Record<MarkState, string>> = { failed: "✗", error: "!" };

export class Marks implements vscode.FileDecorationProvider, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<vscode.Uri[]>();
    readonly onDidChangeFileDecorations = this.changed.event;
    private readonly filesChanged = new vscode.EventEmitter<FileMarks>();
    /** Fires when the files that did not pass, or their reasons, have changed. */
    readonly onDidChangeFiles = this.filesChanged.event;
    private readonly types = new Map<string, vscode.TextEditorDecorationType>();
    private readonly listeners: vscode.Disposable;
    private files: FileMarks = new Map<string, FileMark>();
    private linesTimer: NodeJS.Timeout | undefined;
    private filesTimer: NodeJS.Timeout | undefined;
    /** The editors whose marks will be requested. */
    private readonly waiting = new Set<vscode.TextEditor>();
    /** The lines of each decoration that an editor shows, until an edit adds or removes a line. */
    private readonly drawn = new WeakMap<vscode.TextEditor, Map<string, string>>();
    /** Documents that were edited since they were opened or saved. */
    private readonly edited = new Set<string>();

    constructor(private readonly client: () => LanguageClient | undefined) {
        for (const state of STATES) {
            this.types.set(keyOf(state, false), decorationOf(state, false));
            this.types.set(keyOf(state, true), decorationOf(state, true));
            this.types.set(`${state} ruler`, vscode.window.createTextEditorDecorationType(rulerOf(state)));
        }
        const onWritten = ({ uri }: vscode.TextDocument) => {
            if (this.edited.delete(uri.toString())) {
                this.refreshFiles();
            }
        };
        this.listeners = vscode.Disposable.from(
            vscode.window.registerFileDecorationProvider(this),
            vscode.window.onDidChangeVisibleTextEditors((editors) => {
                this.refreshLines(editors, DELAY_MS);
            }),
            vscode.workspace.onDidChangeTextDocument((change) => {
                this.onEdited(change);
            }),
            vscode.workspace.onDidSaveTextDocument(onWritten),
            vscode.workspace.onDidCloseTextDocument(onWritten),
        );
    }

    /** Requests the marks of all visible editors after a delay, and those of files if `files` is true. */
    refresh({ files }: { readonly files: boolean }): void {
        this.refreshLines(vscode.window.visibleTextEditors, DELAY_MS);
        if (files) {
            this.refreshFiles();
        }
    }

    /** Removes all marks: without a server they would never be updated. */
    clear(): void {
        for (const editor of vscode.window.visibleTextEditors) {
            this.types.forEach((type) => {
                editor.setDecorations(type, []);
            });
            this.drawn.delete(editor);
        }
        this.updateFiles([]);
    }

    provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
        const mark = this.files.get(uri.toString());
        const badge = mark === undefined ? undefined : BADGES[mark.state];
        if (mark === undefined || badge === undefined) {
            return undefined;
        }
        return new vscode.FileDecoration(badge, `Waza: ${mark.reason}`, new vscode.ThemeColor(RULER[mark.state]));
    }

    dispose(): void {
        clearTimeout(this.linesTimer);
        clearTimeout(this.filesTimer);
        this.listeners.dispose();
        this.changed.dispose();
        this.filesChanged.dispose();
        for (const type of this.types.values()) {
            type.dispose();
        }
    }

    private onEdited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
        if (!mayHaveMarks(document) || contentChanges.length === 0) {
            return;
        }
        this.edited.add(document.uri.toString());
        const editors = vscode.window.visibleTextEditors.filter((editor) => editor.document === document);
        if (contentChanges.some(({ range, text }) => !range.isSingleLine || /[\r\n]/u.test(text))) {
            editors.forEach((editor) => this.drawn.delete(editor));
        }
        this.refreshLines(editors, TYPING_DELAY_MS);
    }

    private refreshLines(editors: readonly vscode.TextEditor[], delay: number): void {
        editors.filter(({ document }) => mayHaveMarks(document)).forEach((editor) => this.waiting.add(editor));
        if (this.waiting.size > 0) {
            clearTimeout(this.linesTimer);
            this.linesTimer = setTimeout(() => {
                this.drawLines();
            }, delay);
        }
    }

    private refreshFiles(): void {
        clearTimeout(this.filesTimer);
        this.filesTimer = setTimeout(() => {
            this.drawFiles().catch(() => undefined); // the server is gone; marks are drawn again when it is back
        }, DELAY_MS);
    }

    private drawLines(): void {
        const client = this.client();
        const editors = vscode.window.visibleTextEditors.filter((editor) => this.waiting.has(editor));
        this.waiting.clear();
        if (client?.state !== State.Running) {
            return;
        }
        for (const editor of editors) {
            this.drawEditor(editor, client).catch(() => undefined); // the server is gone, or the text has changed: both cause another request
        }
    }

    private async drawFiles(): Promise<void> {
        const client = this.client();
        if (client?.state !== State.Running) {
            return;
        }
        this.updateFiles(await client.sendRequest<FileMark[]>("waza/fileMarks", {}));
    }

    private updateFiles(found: readonly FileMark[]): void {
        const before = this.files;
        this.files = new Map(found.map((mark) => [vscode.Uri.parse(mark.uri).toString(), mark]));
        const changedUris = [...new Set([...before.keys(), ...this.files.keys()])].filter((uri) => !isSameMark(before.get(uri), this.files.get(uri)));
        if (changedUris.length > 0) {
            this.changed.fire(changedUris.map((uri) => vscode.Uri.parse(uri)));
            this.filesChanged.fire(this.files);
        }
    }

    private async drawEditor(editor: vscode.TextEditor, client: LanguageClient): Promise<void> {
        const version = editor.document.version;
        const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document);
        const found = (await client.sendRequest<Mark[] | null>("waza/marks", { textDocument })) ?? [];
        if (editor.document.version !== version) {
            return; // the change has started another request
        }
        const lines = new Map<string, number[]>();
        const hasTestIcons = vscode.workspace.getConfiguration("testing").get<boolean>("gutterEnabled", true);
        for (const { line, state, stale, isTest } of found) {
            const hasIcon = isTest === true && hasTestIcons;
            if (hasIcon && stale) {
                continue;
            }
            const key = hasIcon ? `${state} ruler` : keyOf(state, stale);
            const known = lines.get(key);
            if (known === undefined) {
                lines.set(key, [line]);
            } else {
                known.push(line);
            }
        }
        const before = this.drawn.get(editor);
        const now = new Map<string, string>();
        for (const [key, type] of this.types) {
            const markedLines = lines.get(key) ?? [];
            now.set(key, markedLines.join());
            if (before?.get(key) !== now.get(key)) {
                editor.setDecorations(type, markedLines.map((line) => new vscode.Range(line, 0, line, 0)));
            }
        }
        this.drawn.set(editor, now);
    }
}

/** Returns whether lines of a document may have marks. */
function mayHaveMarks({ languageId, uri }: vscode.TextDocument): boolean {
    return uri.scheme === "file" && (languageId === "yaml" || isSkillFile(uri.fsPath) || mayBeEvals(uri.fsPath));
}

function isSameMark(mark: FileMark | undefined, other: FileMark | undefined): boolean {
    return mark?.state === other?.state && mark?.reason === other?.reason;
}

function keyOf(state: MarkState, stale: boolean): string {
    return `${state}${stale ? " stale" : ""}`;
}

/** Returns the decoration of a mark; a stale one is dotted and paler. */
function decorationOf(state: MarkState, stale: boolean): vscode.TextEditorDecorationType {
    const icon = (colour: string) => ({ gutterIconPath: svg(SHAPES[state], colour, stale), gutterIconSize: "contain" });
    return vscode.window.createTextEditorDecorationType({
        dark: icon(ON_DARK[state]),
        light: icon(ON_LIGHT[state]),
        ...(stale ? {} : rulerOf(state)),
    });
}

function rulerOf(state: MarkState): vscode.DecorationRenderOptions {
    return { overviewRulerLane: vscode.OverviewRulerLane.Right, overviewRulerColor: new vscode.ThemeColor(RULER[state]) };
}

function svg(shape: string, colour: string, stale: boolean): vscode.Uri {
    const dotted = stale ? ' stroke-dasharray="1.5 2" opacity="0.7"' : "";
    const drawn = `<path d="${shape}" fill="none" stroke="${colour}" stroke-width="2" stroke-linecap="round"${dotted}/>`;
    const image = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">${drawn}</svg>`;
    return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(image).toString("base64")}`);
}
