/**
 * Creates a grader from the selection in the document of a trial: the server offers graders, the user chooses one.
 *
 * VS Code shows no light bulb in a read-only document, so this is a command with the same shortcut.
 */

import * as vscode from "vscode";
import type { CodeAction, LanguageClient } from "vscode-languageclient/node";
import { showRequestError } from "./requestErrors";

/** The server's description of a grader: its requirement, its location, and the trials that pass it; see docs/protocol.md. */
interface GraderOffer {
    readonly words: string;
    readonly where: string;
    readonly passes: string;
}

/** Offers graders for the selection, or for the line of the cursor; `trial` identifies the trial that the editor shows. */
export async function createGraderFromSelection(client: LanguageClient | undefined, { document, selection }: vscode.TextEditor, trial: object): Promise<void> {
    if (client === undefined) {
        return; // the reason was shown
    }
    const text = selection.isEmpty ? document.lineAt(selection.active.line).text : document.getText(selection);
    try {
        const offered = await client.sendRequest<CodeAction[]>("waza/newGraders", { ...trial, text });
        const items = offered.map((action) => {
            const { words, where, passes } = action.data as GraderOffer;
            return { label: words, description: where, detail: passes, action };
        });
        if (items.length === 0) {
            void vscode.window.showInformationMessage("Select words of the answer, or a tool call, to create a grader from.");
            return;
        }
        const chosen = await vscode.window.showQuickPick(items, { title: "New Grader", placeHolder: "Choose a check; each names the recorded trials that pass it" });
        const edit = await client.protocol2CodeConverter.asWorkspaceEdit(chosen?.action.edit);
        if (edit !== undefined && (await vscode.workspace.applyEdit(edit))) {
            await showEdit(edit);
        }
    } catch (error) {
        void showRequestError(error);
    }
}

/** Reveals the first line of an edit of one file. */
async function showEdit(change: vscode.WorkspaceEdit): Promise<void> {
    const [[uri, edits] = [undefined, []]] = change.entries();
    const [edit] = edits;
    if (uri === undefined || edit === undefined) {
        return;
    }
    const line = edit.range.start.line + (/^[^\S\n]*(#.*)?\n/u.test(edit.newText) ? 1 : 0);
    const opened = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
    const options = { viewColumn: opened?.viewColumn ?? vscode.ViewColumn.One, selection: new vscode.Range(line, 0, line, 0), preview: false };
    await vscode.window.showTextDocument(uri, options);
}
