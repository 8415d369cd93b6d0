/** Reveals lines that the server has added to a file on disk; the editor of the file reloads it a moment later. */

import * as vscode from "vscode";

/** How long an editor may take to reload a file. */
const RELOAD_TIMEOUT_MILLISECONDS = 5_000;

/** Reveals the lines that were added to a document since `before`, with the cursor at `text` in them. */
export async function revealAddedLines(document: vscode.TextDocument, before: string, text: string): Promise<void> {
    await waitForReload(document, before);
    const editor = await vscode.window.showTextDocument(document);
    const { first, last } = addedLines(before, document.getText());
    const lines = Array.from({ length: last - first + 1 }, (_, index) => document.lineAt(first + index));
    const target = lines.find((line) => line.text.includes(text)) ?? document.lineAt(first);
    const position = new vscode.Position(target.lineNumber, Math.max(0, target.text.indexOf(text)));
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(new vscode.Range(first, 0, last, 0), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** Returns the first and the last added line, counted from 0; line 0 if none was added. */
export function addedLines(before: string, after: string): { readonly first: number; readonly last: number } {
    const [old, now] = [before.split(/\r?\n/u), after.split(/\r?\n/u)];
    const shortest = Math.min(old.length, now.length);
    let first = 0;
    while (first < shortest && old[first] === now[first]) {
        first += 1;
    }
    let sameAtEnd = 0;
    while (sameAtEnd < shortest - first && old.at(-1 - sameAtEnd) === now.at(-1 - sameAtEnd)) {
        sameAtEnd += 1;
    }
    const last = now.length - 1 - sameAtEnd;
    return last < first ? { first: 0, last: 0 } : { first, last };
}

/** Resolves when the text of a document differs from `before`, or after the timeout. */
async function waitForReload(document: vscode.TextDocument, before: string): Promise<void> {
    await new Promise<void>((resolve) => {
        const done = () => {
            listener.dispose();
            clearTimeout(timer);
            resolve();
        };
        const listener = vscode.workspace.onDidChangeTextDocument((change) => {
            if (change.document === document) {
                done();
            }
        });
        const timer = setTimeout(done, RELOAD_TIMEOUT_MILLISECONDS);
        if (document.getText() !== before) {
            done();
        }
    });
}
