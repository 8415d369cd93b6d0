/** Opens the folders in which the agent worked, if a run has kept them. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { recordedItemOf, trialNumberOf } from "./itemIds";
import { showRequestError } from "./requestErrors";
import type { TrialWorkspace } from "./resultHtml";

/** Opens the workspace of a trial of an item in a new window; asks which one if there are several. */
export async function openWorkspace(client: LanguageClient, item: string): Promise<void> {
    const workspaces = await workspacesOf(client, recordedItemOf(item));
    if (workspaces === undefined) {
        return; // the reason was shown
    }
    const trial = trialNumberOf(item);
    const matching = trial === undefined ? workspaces : workspaces.filter((each) => each.trial === trial);
    if (workspaces.length === 0) {
        void vscode.window.showInformationMessage("The last run did not keep its workspaces; run it with “Keep workspaces”.");
        return;
    }
    const rows = (matching.length > 0 ? matching : workspaces).map((each) => ({
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
