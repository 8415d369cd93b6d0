/** Sets the context keys of the active file, which the `when` clauses of the manifest use to offer commands only where they work. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

/** The answer of `waza/suiteState`; null for files that belong to no suite. */
interface SuiteState {
    readonly kind?: string;
    readonly canRun: boolean;
    readonly recorded: boolean;
}

const NO_STATE: SuiteState = { canRun: false, recorded: false };
const DELAY_MS = 200;
/** After a keystroke: nobody looks at the title bar while typing. */
const TYPING_DELAY_MS = 600;

/** Marks steps of the walkthrough as done, whether by a command, a lens, a shortcut or an edit. */
export const completeStep = {
    edited: () => vscode.commands.executeCommand("setContext", "waza:edited", true),
    resultRead: () => vscode.commands.executeCommand("setContext", "waza:resultRead", true),
    regraded: () => vscode.commands.executeCommand("setContext", "waza:regraded", true),
};

export class ContextKeys implements vscode.Disposable {
    private shown = "";
    private state = NO_STATE;
    private timer: NodeJS.Timeout | undefined;
    private readonly listeners: vscode.Disposable;

    /** @param onKind called with the kind of the active file; undefined for one that belongs to no suite */
    constructor(
        private readonly client: () => LanguageClient | undefined,
        private readonly onKind: (document: vscode.TextDocument, kind: string | undefined) => void = () => undefined,
    ) {
        const refresh = () => {
            this.refresh();
        };
        this.listeners = vscode.Disposable.from(
            vscode.window.onDidChangeActiveTextEditor(refresh),
            vscode.workspace.onDidChangeTextDocument(({ document }) => {
                if (document === vscode.window.activeTextEditor?.document) {
                    this.refresh(TYPING_DELAY_MS);
                    this.completeEditSteps();
                }
            }),
        );
    }

    /** Requests the state of the active file after a delay. */
    refresh(delay = DELAY_MS): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.update(), delay);
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.listeners.dispose();
    }

    /** Completes the steps that an edit does: an edit of a recorded suite grades its answers again. */
    private completeEditSteps(): void {
        if (this.state.canRun) {
            void completeStep.edited();
        }
        if (this.state.canRun && this.state.recorded) {
            void completeStep.regraded();
        }
    }

    private async update(): Promise<void> {
        const [document, client] = [vscode.window.activeTextEditor?.document, this.client()];
        const found = document?.uri.scheme === "file" && client !== undefined ? await requestState(client, document) : undefined;
        const state = found ?? NO_STATE;
        // "waza:canRun" may still be that of the previous file. Shortcuts therefore also work in files that are not in "waza:known".
        const known = found === undefined || document === undefined ? [] : [document.uri.toString()];
        if (document !== vscode.window.activeTextEditor?.document) {
            return; // the change of the active file has started another request
        }
        if (document !== undefined) {
            this.onKind(document, state.kind);
        }
        const shown = JSON.stringify([state, known]);
        if (this.shown === shown) {
            return;
        }
        this.shown = shown;
        this.state = state;
        await vscode.commands.executeCommand("setContext", "waza:known", known);
        await vscode.commands.executeCommand("setContext", "waza:canRun", state.canRun);
        await vscode.commands.executeCommand("setContext", "waza:recorded", state.recorded);
    }
}

/** Requests the state of a file; undefined if the server is gone or rejects the request for an old text, after which another one follows. */
async function requestState(client: LanguageClient, document: vscode.TextDocument): Promise<SuiteState | undefined> {
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    try {
        return (await client.sendRequest<SuiteState | null>("waza/suiteState", { textDocument })) ?? NO_STATE;
    } catch {
        return undefined;
    }
}
