/** Shows lines that were written into a file on disk: the editor that has the file open reads them a moment later. */

import * as vscode from "vscode";

/** How long an editor may take to read a file again. */
const RELOAD_TIMEOUT_MILLISECONDS = 5_000;

/** Shows the lines that a document has beyond `before`, with the cursor at `text` in them. */
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

/** The first and the last line, counted from 0, that a text has beyond an older one; its first one when there is none. */
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

/** Resolves when a document is another text than `before`, or will hardly become one. */
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
