/** Choices for runs without opening the settings: the options of one run, the executor, a login. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { findOnPath } from "./interpreters";
import { openTerminal } from "./programs";
import { suiteOf } from "./runnables";
import { runOptions, type RunOptions } from "./runSettings";

const FROM_SUITE = "From the suite";
const LIKE_AGENT = "The agent's";
const NO_LIMIT = "None";

interface Manifest {
    readonly contributes: {
        readonly configuration: { readonly properties: Record<string, { readonly enum?: string[]; readonly enumDescriptions?: string[]; readonly enumItemLabels?: string[] }> };
    };
}

/** A row of the list: what it is called, what it is now, and how it becomes something else. */
interface Choice extends vscode.QuickPickItem {
    readonly change?: (now: RunOptions) => Promise<RunOptions | undefined>;
}

/**
 * Asks for the options of one run, starting from the settings: each choice leads back to the list, its first row starts the run.
 *
 * @param title the title of the runnable
 * @param id the id of the runnable, or of an item of the suite whose folder has the settings; without one the window has them
 * @param client knows the models that are offered
 * @returns the options that differ from the settings; undefined when the person cancels
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

/** Asks who is to answer the prompts, and keeps it in the settings of the workspace. */
export async function chooseExecutor(context: vscode.ExtensionContext): Promise<void> {
    const now = runOptions((name) => vscode.workspace.getConfiguration("waza.run").get(name)).executor;
    const chosen = await pickExecutor(context, "Executor that answers the prompts", now);
    if (chosen !== undefined) {
        const inWorkspace = vscode.workspace.workspaceFolders !== undefined;
        const target = inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
        await vscode.workspace.getConfiguration("waza.run").update("executor", chosen === "" ? undefined : chosen, target);
    }
}

/** Lets the GitHub Copilot agent log in, in a terminal of its own; `command` as the engine says it. */
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
    const [fresh, kept] = [now.cache === false, now.keepWorkspaces === true];
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
        check("Without cache", "Ask the agent again for every task", fresh, { cache: fresh ? undefined : false }),
        check("Keep workspaces", "Keep the folders in which the agent works", kept, { keepWorkspaces: !kept }),
    ];
}

/** A row with a value; the blank keeps its name below those of the rows with a mark. */
function row(label: string, value: string | number | undefined, change: NonNullable<Choice["change"]>, none = FROM_SUITE): Choice {
    return { label: `$(blank) ${label}`, description: String(value ?? none), change };
}

/** A choice, one of which is active: it has the mark. */
function withCheck(label: string, isNow: boolean): string {
    return `$(${isNow ? "check" : "blank"}) ${label}`;
}

function check(label: string, description: string, isOn: boolean, changes: OptionChanges): Choice {
    return { label: `$(${isOn ? "check" : "blank"}) ${label}`, description, change: () => Promise.resolve(asRunOptions(changes)) };
}

/** Options, some of which are reset: the suite decides these, whatever the settings say. */
type OptionChanges = { readonly [Name in keyof RunOptions]: RunOptions[Name] | undefined };

function asRunOptions(options: OptionChanges): RunOptions {
    return options as RunOptions;
}

/** Converts an answer to options: undefined when the question was dismissed, and "" resets an earlier answer. */
function optionsFrom<Value>(answer: Value | "" | undefined, options: (value: Value | undefined) => OptionChanges): RunOptions | undefined {
    return answer === undefined ? undefined : asRunOptions(options(answer === "" ? undefined : answer));
}

/** The valid numbers, and the message for others. */
interface Numbers {
    readonly pattern: RegExp;
    readonly hint: string;
}

const WHOLE: Numbers = { pattern: /^[1-9]\d{0,3}$/u, hint: "Write a whole number from 1 to 9999." };
const DOLLARS: Numbers = { pattern: /^(?=.*[1-9])\d{1,6}(?:\.\d{1,4})?$/u, hint: "Write an amount such as 0.50." };

/** The number that was written; "" of none. */
async function askNumber(title: string, now: number | undefined, { pattern, hint }: Numbers): Promise<number | "" | undefined> {
    const written = await vscode.window.showInputBox({
        title,
        value: String(now ?? ""),
        prompt: "Leave it empty to use the number of the suite or the settings",
        validateInput: (text) => (text.trim() === "" || pattern.test(text.trim()) ? undefined : hint),
    });
    const text = written?.trim();
    return text === undefined || text === "" ? text : Number(text);
}

/** One answer of the request `waza/models`; see docs/protocol.md. */
interface KnownModel {
    readonly name: string;
    readonly words: string;
}

/** The offered models: those the server knows, requested once, and the typed text. */
class Models {
    private known: Promise<readonly KnownModel[]> | undefined;

    constructor(
        private readonly id: string | undefined,
        private readonly client: LanguageClient | undefined,
    ) {}

    /** The name that was chosen or typed; "" for what the suite says, undefined when the question was left. */
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
        const answered = new Promise<string | undefined>((resolve) => {
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
        const answer = await answered;
        list.dispose();
        return answer;
    }

    private all(): Promise<readonly KnownModel[]> {
        const { client, id } = this;
        // Without a list the typed text can still be chosen.
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
