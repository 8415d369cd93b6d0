/** The editor that a command of a suite is about: the one in front, or, when that shows no file, that of a suite which the person chooses. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { suiteOf } from "./runnables";

/** As much of an answer of the request `waza/tests` as a list needs; see docs/protocol.md. */
interface Suite {
    readonly id: string;
    readonly label: string;
}

/**
 * Resolves to the editor of the file in front; from a page, such as that of the walkthrough, to a suite that is opened for it.
 *
 * @param shownSuite the eval file whose result is in front, when one is
 */
export async function editorOfSuite(client: LanguageClient, shownSuite?: string): Promise<vscode.TextEditor | undefined> {
    const active = vscode.window.activeTextEditor;
    if (active !== undefined && ["file", "untitled"].includes(active.document.uri.scheme)) {
        return active;
    }
    const file = shownSuite ?? (await chooseSuite(client));
    return file === undefined ? undefined : vscode.window.showTextDocument(vscode.Uri.file(file));
}

/** The eval file of the one suite there is, or of the one chosen among several, those that are open first. */
async function chooseSuite(client: LanguageClient): Promise<string | undefined> {
    const suites = await client.sendRequest<Suite[]>("waza/tests", { parent: null });
    if (suites.length === 0) {
        const make = "New Suite…";
        if ((await vscode.window.showInformationMessage("There is no suite in this workspace yet.", make)) === make) {
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
