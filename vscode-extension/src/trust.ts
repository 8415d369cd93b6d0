/** Rejects actions that need a trusted workspace, with a button to manage trust. */

import * as vscode from "vscode";

export const RUNS_NEED_TRUST = "Runs execute the suite's own scripts, so they need a trusted workspace.";
export const GRADERS_NEED_TRUST = "Graders execute the suite's own code, so grading again needs a trusted workspace.";
export const RESULTS_NEED_TRUST = "Results are read by the engine, which needs a trusted workspace.";
export const DRAFTS_NEED_TRUST = "New suites, tasks and graders are drafted by the engine, which needs a trusted workspace.";
export const TERMINALS_NEED_TRUST = "A terminal runs the programs of its folder, so it needs a trusted workspace.";

/** Returns whether the workspace is trusted; if not, shows the reason with a button to manage trust. */
export function isTrustedFor(reason: string): boolean {
    if (!vscode.workspace.isTrusted) {
        void offerTrust(reason);
    }
    return vscode.workspace.isTrusted;
}

async function offerTrust(reason: string): Promise<void> {
    if ((await vscode.window.showWarningMessage(reason, "Manage Workspace Trust")) !== undefined) {
        await vscode.commands.executeCommand("workbench.trust.manage");
    }
}
