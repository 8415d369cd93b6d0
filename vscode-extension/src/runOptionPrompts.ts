/** Prompts for runs that need no settings editor: the options of one run, the executor, a login. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { findOnPath } from "./interpreters";
import { suiteOf } from "./itemIds";
import { openTerminal } from "./programs";
import { runOptions, type RunOptions } from "./runSettings";

const FROM_SUITE = "From the suite";
const LIKE_AGENT = "The agent's";
const NO_LIMIT = "None";

interface Manifest {
    readonly contributes: {
        readonly configuration: { readonly properties: Record<string, { readonly enum?: string[]; readonly enumDescriptions?: string[]; readonly enumItemLabels?: string[] }> };
    };
}

/** A row of the list: an option with its value, and a prompt that changes it. */
interface Choice extends vscode.QuickPickItem {
    readonly change?: (now: RunOptions) => Promise<RunOptions | undefined>;
}

/**
 * Asks for the options of one run, starting from the settings: the list opens again after each change, its first row starts the run.
 *
 * @param title the title of the list
 * @param id an item of the suite, whose folder has the settings; without one those of the window are used
 * @param client requests the models to choose from
 * @returns the options that differ from the settings; undefined if cancelled
 */
export async function chooseRunOptions(
    context: vscode.ExtensionContext,
    title: string,
    id: string | undefined,
    client: LanguageClient | undefined,
): Promise<RunOptions | undefined> {
    const settings = vscode.workspace.getConfiguration("waza.run", id === undefined ? undefined : vscode.Uri.file(suiteOf(id)));
    const set = runOptions((name) => settings.get(name));
    const models = new Models(id, client);
    let chosen: RunOptions = {};
    for (;;) {
        const choices = choicesOf({ ...set, ...chosen }, context, models);
        const choice = await vscode.window.showQuickPick(choices, { title, placeHolder: "Options of this run; press Enter to start it", matchOnDescription: true });
        if (choice === undefined) {
            return undefined;
        }
        if (choice.change === undefined) {
            return chosen;
        }
        chosen = { ...chosen, ...(await choice.change({ ...set, ...chosen })) };
    }
}

/** Asks for the executor and stores it in the settings of the workspace. */
export async function chooseExecutor(context: vscode.ExtensionContext): Promise<void> {
    const now = runOptions((name) => vscode.workspace.getConfiguration("waza.run").get(name)).executor;
    const chosen = await pickExecutor(context, "Executor that answers the prompts", now);
    if (chosen !== undefined) {
        const inWorkspace = vscode.workspace.workspaceFolders !== undefined;
        const target = inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
        await vscode.workspace.getConfiguration("waza.run").update("executor", chosen === "" ? undefined : chosen, target);
    }
}

/** Logs in the GitHub Copilot agent in a terminal; `command` is the one that the engine reports. */
export function logIn(command = "copilot login"): void {
    const [program = "", ...args] = (command.match(/"[^"]*"|\S+/gu) ?? []).map((word) => word.replaceAll('"', ""));
    const file = path.isAbsolute(program) ? program : findOnPath(program);
    if (file === undefined) {
        void vscode.window.showErrorMessage(`There is no program \`${program}\` on the PATH; \`npm install -g @github/copilot\` installs the one that logs in.`);
        return;
    }
    openTerminal("Copilot Login", { file, args });
}

function choicesOf(now: RunOptions, context: vscode.ExtensionContext, models: Models): readonly Choice[] {
    const [withoutCache, keepsWorkspaces] = [now.cache === false, now.keepWorkspaces === true];
    return [
        { label: "$(play) Run" },
        row("Trials", now.trials, async ({ trials }) => optionsFrom(await askNumber("Trials of each task", trials, WHOLE), (each) => ({ trials: each }))),
        row("Model", now.model, async ({ model }) => optionsFrom(await models.ask("The agent's model", model), (each) => ({ model: each }))),
        row("Executor", now.executor, async ({ executor }) => optionsFrom(await pickExecutor(context, "Executor that answers the prompts", executor), (each) => ({ executor: each }))),
        row("Judge's model", now.judgeModel, async ({ judgeModel }) =>
            optionsFrom(await models.ask("The model of judges that do not name one", judgeModel), (each) => ({ judgeModel: each })),
        ),
        row("Judge's executor", now.judgeExecutor, async ({ judgeExecutor }) => optionsFrom(await pickExecutor(context, "Executor of judges", judgeExecutor, "judgeExecutor"), (each) => ({ judgeExecutor: each })), LIKE_AGENT),
        row("At the same time", now.workers, async ({ workers }) =>
            optionsFrom(await askNumber("Trials that run at the same time", workers, WHOLE), (each) => ({ workers: each })),
        ),
        row("Limit of cost", now.maxCost === undefined ? undefined : `$${String(now.maxCost)}`, async ({ maxCost }) =>
            optionsFrom(await askNumber("Budget in US dollars", maxCost, DOLLARS), (each) => ({ maxCost: each })), NO_LIMIT,
        ),
        check("Without cache", "Run the agent again for every task", withoutCache, { cache: withoutCache ? undefined : false }),
        check("Keep workspaces", "Keep the folders in which the agent works", keepsWorkspaces, { keepWorkspaces: !keepsWorkspaces }),
    ];
}

/** Returns a row with a value; the blank icon aligns its label with those of the rows with a check mark. */
function row(label: string, value: string | number | undefined, change: NonNullable<Choice["change"]>, none = FROM_SUITE): Choice {
    return { label: `$(blank) ${label}`, description: String(value ?? none), change };
}

/** Returns a label with a check mark if the choice is the current one. */
function withCheck(label: string, isNow: boolean): string {
    return `$(${isNow ? "check" : "blank"}) ${label}`;
}

function check(label: string, description: string, isOn: boolean, changes: OptionChanges): Choice {
    return { label: `$(${isOn ? "check" : "blank"}) ${label}`, description, change: () => Promise.resolve(asRunOptions(changes)) };
}

/** Changed options; an undefined one overrides the settings, so that the suite decides it. */
type OptionChanges = { readonly [Name in keyof RunOptions]: RunOptions[Name] | undefined };

function asRunOptions(options: OptionChanges): RunOptions {
    return options as RunOptions;
}

/** Converts the answer of a prompt to options; undefined if the prompt was dismissed, and "" resets the option. */
function optionsFrom<Value>(answer: Value | "" | undefined, options: (value: Value | undefined) => OptionChanges): RunOptions | undefined {
    return answer === undefined ? undefined : asRunOptions(options(answer === "" ? undefined : answer));
}

/** A pattern for valid numbers, and the message for other input. */
interface Numbers {
    readonly pattern: RegExp;
    readonly hint: string;
}

const WHOLE: Numbers = { pattern: /^[1-9]\d{0,3}$/u, hint: "Write a whole number from 1 to 9999." };
const DOLLARS: Numbers = { pattern: /^(?=.*[1-9])\d{1,6}(?:\.\d{1,4})?$/u, hint: "Write an amount such as 0.50." };

/** Asks for a number; returns "" for empty input, and undefined if dismissed. */
async function askNumber(title: string, now: number | undefined, { pattern, hint }: Numbers): Promise<number | "" | undefined> {
    const input = await vscode.window.showInputBox({
        title,
        value: String(now ?? ""),
        prompt: "Leave it empty to use the number of the suite or the settings",
        validateInput: (text) => (text.trim() === "" || pattern.test(text.trim()) ? undefined : hint),
    });
    const text = input?.trim();
    return text === undefined || text === "" ? text : Number(text);
}

/** An answer of `waza/models`; see docs/protocol.md. */
interface KnownModel {
    readonly name: string;
    readonly words: string;
}

/** Prompts for a model: those that the server knows, requested once, or any typed name. */
class Models {
    private known: Promise<readonly KnownModel[]> | undefined;

    constructor(
        private readonly id: string | undefined,
        private readonly client: LanguageClient | undefined,
    ) {}

    /** Asks for a model; returns "" for that of the suite, and undefined if dismissed. */
    async ask(title: string, now: string | undefined): Promise<string | undefined> {
        const list = vscode.window.createQuickPick<ModelItem>();
        list.title = title;
        list.placeholder = now ?? "Choose a model, or type its name";
        list.matchOnDescription = true;
        list.busy = true;
        let known: readonly ModelItem[] = [];
        const show = () => {
            const typed = list.value.trim();
            const isNew = typed !== "" && !known.some(({ name }) => name === typed);
            list.items = [...(isNew ? [{ label: typed, description: "as it is typed", name: typed }] : []), ...known];
        };
        const accepted = new Promise<string | undefined>((resolve) => {
            list.onDidAccept(() => {
                resolve(list.selectedItems[0]?.name);
            });
            list.onDidHide(() => {
                resolve(undefined);
            });
        });
        list.onDidChangeValue(show);
        list.show();
        const all = await this.all();
        const custom = now === undefined || now === "" || all.some(({ name }) => name === now) ? [] : [{ name: now, words: "" }];
        const items = [...custom, ...all].map(({ name, words }) => ({ label: withCheck(name, name === now), description: words, name }));
        known = [{ label: withCheck(FROM_SUITE, now === undefined || now === ""), description: "", name: "" }, ...items];
        list.busy = false;
        show();
        const answer = await accepted;
        list.dispose();
        return answer;
    }

    private all(): Promise<readonly KnownModel[]> {
        const { client, id } = this;
        // Without this list the user can still type a name.
        this.known ??= client === undefined || id === undefined ? Promise.resolve([]) : client.sendRequest<KnownModel[]>("waza/models", { id }).catch(() => []);
        return this.known;
    }
}

interface ModelItem extends vscode.QuickPickItem {
    readonly name: string;
}

async function pickExecutor(context: vscode.ExtensionContext, title: string, now: string | undefined, of: "executor" | "judgeExecutor" = "executor"): Promise<string | undefined> {
    const { contributes } = context.extension.packageJSON as Manifest;
    const setting = contributes.configuration.properties[`waza.run.${of}`];
    const items = (setting?.enum ?? []).map((name, index) => ({
        label: withCheck(setting?.enumItemLabels?.[index] ?? name, name === (now ?? "")),
        description: setting?.enumDescriptions?.[index] ?? "",
        name,
    }));
    return (await vscode.window.showQuickPick(items, { title }))?.name;
}
