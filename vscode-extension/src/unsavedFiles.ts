/** Saves unsaved documents before a run, since it reads from disk. */

import * as path from "node:path";
import { setTimeout } from "node:timers/promises";
import * as vscode from "vscode";
import { isSkillFile } from "./suiteFiles";

/** How long a save that something else has begun is waited for. */
const OTHER_SAVE_MILLISECONDS = 3_000;

/** Saves what the run will read from disk: every changed file in the suite's folder, and a skill that it is started from. */
export async function saveBeforeRun(suite: string): Promise<boolean> {
    const folder = path.dirname(suite) + path.sep;
    const active = vscode.window.activeTextEditor?.document;
    const changed = vscode.workspace.textDocuments.filter(
        (document) =>
            document.isDirty &&
            document.uri.scheme === "file" &&
            (document.uri.fsPath.startsWith(folder) || (document === active && isSkillFile(document.uri.fsPath))),
    );
    const saved = await Promise.all(changed.map(save));
    return saved.every(Boolean);
}

/** Saves a file. Before tests VS Code saves all itself, and answers that a second save did nothing while the first may still be on its way. */
async function save(document: vscode.TextDocument): Promise<boolean> {
    const deadline = Date.now() + OTHER_SAVE_MILLISECONDS;
    if (await document.save()) {
        return true;
    }
    while (document.isDirty && Date.now() < deadline) {
        await setTimeout(50);
    }
    return !document.isDirty;
}
