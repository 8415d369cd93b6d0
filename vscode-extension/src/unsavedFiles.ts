/** Saves the unsaved documents of a suite before a run, which reads from disk. */

import * as path from "node:path";
import { setTimeout } from "node:timers/promises";
import * as vscode from "vscode";
import { isSkillFile } from "./suiteFiles";

/** How long to wait for a save that VS Code has started. */
const OTHER_SAVE_MILLISECONDS = 3_000;

/** Saves every unsaved file in the folder of a suite, and an active `SKILL.md`; returns false if one cannot be saved. */
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

/** Saves a file. VS Code saves all files before a test run, and a second save returns false while the first one is in progress. */
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
