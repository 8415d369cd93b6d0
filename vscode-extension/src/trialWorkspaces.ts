/** The folders in which the agent worked, where a run was asked to keep them. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { showRequestError } from "./requestErrors";
import { recordedItemOf } from "./runComparisons";
import type { TrialWorkspace } from "./resultHtml";

/** Opens the workspace of a trial of the item with an id in a window of its own; of several the person chooses one. */
export async function openWorkspace(client: LanguageClient, item: string): Promise<void> {
    const found = await workspacesOf(client, recordedItemOf(item));
    if (found === undefined) {
        return; // the reason was shown
    }
    const trial = /#trial-(\d+)/u.exec(item)?.[1];
    const matching = trial === undefined ? found : found.filter((each) => each.trial === Number(trial));
    if (found.length === 0) {
        void vscode.window.showInformationMessage("The last run did not keep its workspaces; run it with “Keep workspaces”.");
        return;
    }
    const rows = (matching.length > 0 ? matching : found).map((each) => ({
        label: `${each.task}, trial ${String(each.trial)}`,
        description: each.path,
        each,
    }));
    const chosen = rows.length === 1 ? rows[0] : await vscode.window.showQuickPick(rows, { title: "Open the workspace of a trial" });
    if (chosen !== undefined) {
        await vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(chosen.each.path), { forceNewWindow: true });
    }
}

async function workspacesOf(client: LanguageClient, id: string): Promise<readonly TrialWorkspace[] | undefined> {
    try {
        return (await client.sendRequest<{ workspaces: TrialWorkspace[] }>("waza/resultDocument", { id })).workspaces;
    } catch (error) {
        void showRequestError(error);
        return undefined;
    }
}
