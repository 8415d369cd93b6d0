/**
 * What lines and files came to in their last run, told apart by shape and by colour: icons in the gutter, stripes in the
 * overview ruler, badges in the Explorer. What passed is what the server says; here it is only drawn.
 *
 * The icons have the colours of Okabe and Ito, which people with any colour vision tell apart, darker on light themes.
 */

import * as vscode from "vscode";
import { State, type LanguageClient } from "vscode-languageclient/node";
import { isSkillFile } from "./suiteFiles";

type MarkState = "passed" | "failed" | "error" | "pending";
const STATES: readonly MarkState[] = ["passed", "failed", "error", "pending"];
const DELAY_MS = 150;

/** One answer of `waza/marks`. */
interface Mark {
    readonly line: number;
    readonly state: MarkState;
    readonly stale: boolean;
}

/** One answer of `waza/fileMarks`. */
interface FileMark {
    readonly uri: string;
    readonly state: MarkState;
    readonly reason: string;
}

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
    private readonly changed = new vscode.EventEmitter<vscode.Uri[] | undefined>();
    readonly onDidChangeFileDecorations = this.changed.event;
    private readonly types = new Map<string, vscode.TextEditorDecorationType>();
    private readonly listeners: vscode.Disposable;
    private files = new Map<string, FileMark>();
    private timer: NodeJS.Timeout | undefined;

    constructor(private readonly client: () => LanguageClient | undefined) {
        for (const state of STATES) {
            this.types.set(keyOf(state, false), decorationOf(state, false));
            this.types.set(keyOf(state, true), decorationOf(state, true));
        }
        const again = () => {
            this.refresh();
        };
        this.listeners = vscode.Disposable.from(
            vscode.window.registerFileDecorationProvider(this),
            vscode.window.onDidChangeVisibleTextEditors(again),
            vscode.workspace.onDidChangeTextDocument(again),
        );
    }

    /** Asks the server again, soon. */
    refresh(): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            this.draw().catch(() => undefined); // the server is gone; it draws again when it is back
        }, DELAY_MS);
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
        clearTimeout(this.timer);
        this.listeners.dispose();
        this.changed.dispose();
        for (const type of this.types.values()) {
            type.dispose();
        }
    }

    private async draw(): Promise<void> {
        const client = this.client();
        if (client?.state !== State.Running) {
            return;
        }
        for (const editor of vscode.window.visibleTextEditors) {
            const { languageId, uri } = editor.document;
            if (uri.scheme === "file" && (languageId === "yaml" || isSkillFile(uri.fsPath))) {
                await this.drawIn(editor, client);
            }
        }
        const found = await client.sendRequest<FileMark[]>("waza/fileMarks", {});
        const before = this.files;
        this.files = new Map(found.map((mark) => [vscode.Uri.parse(mark.uri).toString(), mark]));
        this.changed.fire([...new Set([...before.keys(), ...this.files.keys()])].map((uri) => vscode.Uri.parse(uri)));
    }

    private async drawIn(editor: vscode.TextEditor, client: LanguageClient): Promise<void> {
        const version = editor.document.version;
        const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document);
        const found = (await client.sendRequest<Mark[] | null>("waza/marks", { textDocument })) ?? [];
        if (editor.document.version !== version) {
            return; // drawn again for the newer text
        }
        for (const [key, type] of this.types) {
            const lines = found.filter((mark) => keyOf(mark.state, mark.stale) === key).map(({ line }) => line);
            editor.setDecorations(type, lines.map((line) => new vscode.Range(line, 0, line, 0)));
        }
    }
}

function keyOf(state: MarkState, stale: boolean): string {
    return `${state}${stale ? " stale" : ""}`;
}

/** What is stale is drawn dotted and paler: it may no longer hold. */
function decorationOf(state: MarkState, stale: boolean): vscode.TextEditorDecorationType {
    const icon = (colour: string) => ({ gutterIconPath: svg(SHAPES[state], colour, stale), gutterIconSize: "contain" });
    return vscode.window.createTextEditorDecorationType({
        dark: icon(ON_DARK[state]),
        light: icon(ON_LIGHT[state]),
        overviewRulerLane: vscode.OverviewRulerLane.Right,
        ...(stale ? {} : { overviewRulerColor: new vscode.ThemeColor(RULER[state]) }),
    });
}

function svg(shape: string, colour: string, stale: boolean): vscode.Uri {
    const dotted = stale ? ' stroke-dasharray="1.5 2" opacity="0.7"' : "";
    const drawn = `<path d="${shape}" fill="none" stroke="${colour}" stroke-width="2" stroke-linecap="round"${dotted}/>`;
    const image = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">${drawn}</svg>`;
    return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(image).toString("base64")}`);
}
