/** Context keys of the active file for the `when` clauses of the manifest: commands are offered only where they work. */

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
/** After a keystroke: a person who types does not look at the titles. */
const TYPING_DELAY_MS = 600;

/** Steps of the walkthrough that are done, however that was: by a command, a lens, a key or as one types. */
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

    /** @param onKind told what the active file is, `undefined` for one that belongs to no suite */
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

    /** Asks the server again, soon. */
    refresh(delay = DELAY_MS): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.update(), delay);
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.listeners.dispose();
    }

    /** An edit of a recorded suite grades its answers again. */
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
        // Until the server has answered about the file in front, the keys ask it themselves: "waza:canRun" may still be about the one before.
        const known = found === undefined || document === undefined ? [] : [document.uri.toString()];
        if (document !== undefined && document === vscode.window.activeTextEditor?.document) {
            this.onKind(document, state.kind);
        }
        const shown = JSON.stringify([state, known]);
        if (document !== vscode.window.activeTextEditor?.document || this.shown === shown) {
            return; // asked again for the other file
        }
        this.shown = shown;
        this.state = state;
        await vscode.commands.executeCommand("setContext", "waza:known", known);
        await vscode.commands.executeCommand("setContext", "waza:canRun", state.canRun);
        await vscode.commands.executeCommand("setContext", "waza:recorded", state.recorded);
    }
}

/** Asks the server about a file; undefined when the server is gone, or has a newer text to read first: then a change follows. */
async function requestState(client: LanguageClient, document: vscode.TextDocument): Promise<SuiteState | undefined> {
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    try {
        return (await client.sendRequest<SuiteState | null>("waza/suiteState", { textDocument })) ?? NO_STATE;
    } catch {
        return undefined;
    }
}
