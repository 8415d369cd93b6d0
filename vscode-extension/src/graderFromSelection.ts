/**
 * Creates a grader from the selection in the document of a trial: the server offers some, the user chooses one.
 *
 * VS Code shows no light bulb in a document that cannot be edited, so there is a command, on the same keys.
 */

import * as vscode from "vscode";
import type { CodeAction, LanguageClient } from "vscode-languageclient/node";
import { showRequestError } from "./requestErrors";

/** The server's description of each: its requirement, its place, and its verdicts; see docs/protocol.md. */
interface GraderOffer {
    readonly words: string;
    readonly where: string;
    readonly passes: string;
}

/** `trial` is the place of the trial that the editor shows. Without a selection the line of the cursor counts. */
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
            void vscode.window.showInformationMessage("Nothing to create a grader from: select words of the answer, or a tool call.");
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

/** Shows where a change of one file begins, in the editor that has the file. */
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
