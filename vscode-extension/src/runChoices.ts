/** What a person chooses for runs without opening the settings: what one run is like, the executor, a login. */

import * as vscode from "vscode";
import { runOptions, type RunOptions } from "./runSettings";

const AS_THE_SUITE_SAYS = "As the suite says";

interface Manifest {
    readonly contributes: {
        readonly configuration: { readonly properties: Record<string, { readonly enum?: string[]; readonly enumDescriptions?: string[] }> };
    };
}

/** A row of the list: what it is called, what it is now, and how it becomes something else. */
interface Choice extends vscode.QuickPickItem {
    readonly change?: (now: RunOptions) => Promise<RunOptions | undefined>;
}

/**
 * Asks what one run is to be like, starting from the settings: each choice leads back to the list, its first row starts.
 *
 * @param title what is run, in words
 * @returns what differs from the settings; undefined when the person has thought better of it
 */
export async function chooseRunOptions(context: vscode.ExtensionContext, title: string): Promise<RunOptions | undefined> {
    const settings = vscode.workspace.getConfiguration("waza.run");
    const set = runOptions((name) => settings.get(name));
    let chosen: RunOptions = {};
    for (;;) {
        const choices = choicesOf({ ...set, ...chosen }, context);
        const choice = await vscode.window.showQuickPick(choices, { title, placeHolder: "What this run is like; Enter runs", matchOnDescription: true });
        if (choice === undefined) {
            return undefined;
        }
        if (choice.change === undefined) {
            return chosen;
        }
        chosen = { ...chosen, ...(await choice.change({ ...set, ...chosen })) };
    }
}

/** Asks who is to answer the prompts, and keeps it in the settings of the workspace. */
export async function chooseExecutor(context: vscode.ExtensionContext): Promise<void> {
    const chosen = await pickExecutor(context);
    if (chosen !== undefined) {
        const inWorkspace = vscode.workspace.workspaceFolders !== undefined;
        const target = inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
        await vscode.workspace.getConfiguration("waza.run").update("executor", chosen === "" ? undefined : chosen, target);
    }
}

/** Lets the GitHub Copilot agent log in, in a terminal of its own. */
export function logIn(): void {
    vscode.window.createTerminal({ name: "Copilot Login", shellPath: "copilot", shellArgs: ["login"] }).show();
}

function choicesOf(now: RunOptions, context: vscode.ExtensionContext): readonly Choice[] {
    const [fresh, kept] = [now.cache === false, now.keepWorkspaces === true];
    return [
        { label: "$(play) Run" },
        { label: "Trials", description: String(now.trials ?? AS_THE_SUITE_SAYS), change: ({ trials }) => askTrials(trials) },
        { label: "Model", description: now.model ?? AS_THE_SUITE_SAYS, change: ({ model }) => askModel(model) },
        {
            label: "Executor",
            description: now.executor ?? AS_THE_SUITE_SAYS,
            change: async () => {
                const executor = await pickExecutor(context);
                return executor === undefined ? undefined : asSaid({ executor: executor === "" ? undefined : executor });
            },
        },
        check("Without cache", "Ask the agent again for every task", fresh, { cache: fresh ? undefined : false }),
        check("Keep workspaces", "Leave the folders in which the agent works", kept, { keepWorkspaces: !kept }),
    ];
}

function check(label: string, description: string, isOn: boolean, turned: Said): Choice {
    return { label: `$(${isOn ? "check" : "blank"}) ${label}`, description, change: () => Promise.resolve(asSaid(turned)) };
}

/** Options of which some are taken back: those are as the suite says, whatever the settings say. */
type Said = { readonly [Name in keyof RunOptions]: RunOptions[Name] | undefined };

function asSaid(options: Said): RunOptions {
    return options as RunOptions;
}

async function askTrials(now: number | undefined): Promise<RunOptions | undefined> {
    const written = await vscode.window.showInputBox({
        title: "Trials of each task",
        value: String(now ?? ""),
        validateInput: (text) => (/^[1-9]\d{0,3}$/u.test(text.trim()) ? undefined : "Write a whole number from 1 to 9999."),
    });
    return written === undefined ? undefined : { trials: Number(written.trim()) };
}

async function askModel(now: string | undefined): Promise<RunOptions | undefined> {
    const written = await vscode.window.showInputBox({
        title: "The agent's model",
        value: now ?? "",
        validateInput: (text) => (text.trim() === "" ? "Write the name of a model." : undefined),
    });
    return written === undefined ? undefined : { model: written.trim() };
}

async function pickExecutor(context: vscode.ExtensionContext): Promise<string | undefined> {
    const { contributes } = context.extension.packageJSON as Manifest;
    const setting = contributes.configuration.properties["waza.run.executor"];
    const items = (setting?.enum ?? []).map((name, index) => ({
        label: name === "" ? AS_THE_SUITE_SAYS : name,
        description: setting?.enumDescriptions?.[index] ?? "",
        name,
    }));
    return (await vscode.window.showQuickPick(items, { title: "Who answers the prompts?" }))?.name;
}
