/** Where a change of one file begins, as a command that shows it in the editor that has the file. */

import * as vscode from "vscode";

/** Returns the command; nothing where nothing is changed. It is carried out after the change. */
export function placeOfChange(change: vscode.WorkspaceEdit | undefined): vscode.Command | undefined {
    const [first] = change?.entries() ?? [];
    const [uri, edits] = first ?? [];
    const edit = edits?.[0];
    if (uri === undefined || edit === undefined) {
        return undefined;
    }
    const line = edit.range.start.line + (/^\s*\n/u.test(edit.newText) ? 1 : 0);
    const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
    const options: vscode.TextDocumentShowOptions = {
        viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
        selection: new vscode.Range(line, 0, line, 0),
        preview: false,
    };
    return { title: "Show the Change", command: "vscode.open", arguments: [uri, options] };
}
