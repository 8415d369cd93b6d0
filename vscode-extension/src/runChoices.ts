/** What a person chooses for runs without opening the settings: the executor, a login. */

import * as vscode from "vscode";

const AS_THE_SUITE_SAYS = "As the suite says";

interface Manifest {
    readonly contributes: {
        readonly configuration: { readonly properties: Record<string, { readonly enum?: string[]; readonly enumDescriptions?: string[] }> };
    };
}

/** Asks who is to answer the prompts, and keeps it in the settings of the workspace. */
export async function chooseExecutor(context: vscode.ExtensionContext): Promise<void> {
    const { contributes } = context.extension.packageJSON as Manifest;
    const setting = contributes.configuration.properties["waza.run.executor"];
    const names = setting?.enum ?? [];
    const items = names.map((name, index) => ({
        label: name === "" ? AS_THE_SUITE_SAYS : name,
        description: setting?.enumDescriptions?.[index] ?? "",
        name,
    }));
    const chosen = await vscode.window.showQuickPick(items, { title: "Who answers the prompts?" });
    if (chosen !== undefined) {
        const inWorkspace = vscode.workspace.workspaceFolders !== undefined;
        const target = inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
        await vscode.workspace.getConfiguration("waza.run").update("executor", chosen.name === "" ? undefined : chosen.name, target);
    }
}

/** Lets the GitHub Copilot agent log in, in a terminal of its own. */
export function logIn(): void {
    vscode.window.createTerminal({ name: "Copilot Login", shellPath: "copilot", shellArgs: ["login"] }).show();
}
