/** Finds the editor for a command about a suite: the active one, or that of a suite that the user chooses. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { suiteOf } from "./itemIds";

/** An answer of `waza/tests`, as far as it is used here; see docs/protocol.md. */
interface Suite {
    readonly id: string;
    readonly label: string;
}

/**
 * Returns the active editor of a file; if something else is in front, such as the walkthrough, opens a suite and returns its editor.
 *
 * @param shownSuite the eval file of the result page in front, if one is
 */
export async function editorOfSuite(client: LanguageClient, shownSuite?: string): Promise<vscode.TextEditor | undefined> {
    const active = vscode.window.activeTextEditor;
    if (active !== undefined && ["file", "untitled"].includes(active.document.uri.scheme)) {
        return active;
    }
    const file = shownSuite ?? (await chooseSuite(client));
    return file === undefined ? undefined : vscode.window.showTextDocument(vscode.Uri.file(file));
}

/** Returns the eval file of the only suite, or of the one that the user chooses; suites in open tabs are listed first. */
async function chooseSuite(client: LanguageClient): Promise<string | undefined> {
    const suites = await client.sendRequest<Suite[]>("waza/tests", { parent: null });
    if (suites.length === 0) {
        const create = "New Suite…";
        if ((await vscode.window.showInformationMessage("There is no suite in this workspace yet.", create)) === create) {
            await vscode.commands.executeCommand("waza.createSuite");
        }
        return undefined;
    }
    const open = openFiles();
    const items = suites.map(({ id, label }) => {
        const file = suiteOf(id);
        return { label, description: vscode.workspace.asRelativePath(file), file, isOpen: open.has(file) };
    });
    items.sort((one, other) => Number(other.isOpen) - Number(one.isOpen));
    const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: "Which suite?", matchOnDescription: true });
    return chosen?.file;
}

function openFiles(): Set<string> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    return new Set(tabs.flatMap(({ input }) => (input instanceof vscode.TabInputText ? [input.uri.fsPath] : [])));
}
