/** The items of the Test Explorer, read from the server level by level or created from the events of a run. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { LanguageClient, Location, Range } from "vscode-languageclient/node";
import { isInTrial, isTrial, kindOf, parentOf, promptOf, runnableOf, setSuiteTitles, suiteIdOf, suiteOf, taskOf, titleOf, trialNumberOf } from "../itemIds";
import type { FileMarks } from "../marks";
import type { RunRequest } from "../runs";
import { folderOf } from "../runTitles";
import { distinguishingPaths } from "./distinguishingPaths";
import type { StaleResult } from "./staleness";

/** An answer of `waza/tests`; see docs/protocol.md. */
interface TreeItem {
    readonly id: string;
    /** The id to run for the item: its own, or that of its task if it cannot be graded alone; null if it is disabled. */
    readonly runs: string | null;
    readonly kind: "suite" | "task" | "grader" | "prompt";
    readonly label: string;
    readonly hasChildren: boolean;
    readonly uri: string;
    readonly range: Range;
}

/** The tag of items that can run. */
export const RUNNABLE = new vscode.TestTag("waza.runnable");

/** A verdict other than passed, with its messages. */
export interface Failure {
    readonly verdict: "failed" | "errored";
    readonly messages: readonly vscode.TestMessage[];
    readonly duration: number | undefined;
}

export class TestTree {
    private readonly items = new Map<string, vscode.TestItem>();
    /** The id to run for each item that the server has reported. */
    private readonly runs = new Map<string, string | undefined>();
    /** The suites, tasks and prompts that only a run has reported, and whose files may have been deleted since. */
    private readonly unreported = new Set<string>();
    /** Why results are stale, by item. */
    private readonly stale = new Map<string, string>();
    /** The last verdict in this window of each item that did not pass. */
    readonly failures = new Map<string, Failure>();
    /** The summary of the last run of a suite or of a part: the icon, which VS Code computes, does not distinguish failures from errors. */
    private readonly ended = new Map<string, string>();
    /** The suites that have run in this window, whose icons show the verdicts. */
    private readonly suitesRunHere = new Set<string>();
    /** The files whose last run did not pass, in any window or terminal. */
    private recorded: FileMarks = new Map();
    /** The distinguishing path parts of suites with the same name, by file. */
    private distinguishing: ReadonlyMap<string, string> = new Map();

    constructor(
        private readonly controller: vscode.TestController,
        private readonly client: () => LanguageClient | undefined,
    ) {}

    /** Reads the children of an item, or the suites of the workspace, from the server. */
    async resolve(parent?: vscode.TestItem): Promise<void> {
        const client = this.client();
        if (client === undefined || (parent !== undefined && isLeaf(parent.id))) {
            return;
        }
        const found = await client.sendRequest<TreeItem[]>("waza/tests", { parent: parent?.id ?? null });
        const children = parent?.children ?? this.controller.items;
        const items = found.map((item) => this.updateItem(client, item));
        // Trials stay until the next run (`forgetTrials`).
        children.forEach((child) => {
            if (isInTrial(child.id)) {
                items.push(child);
            } else if (!found.some(({ id }) => id === child.id)) {
                this.forget(child);
            }
        });
        children.replace(items);
        if (parent === undefined) {
            this.distinguishSuites(items);
        }
    }

    /** Reads everything again that was read before. */
    async refresh(): Promise<void> {
        await this.resolve();
        const read: vscode.TestItem[] = [];
        this.controller.items.forEach((suite) => {
            if (suite.children.size > 0) {
                read.push(suite);
                suite.children.forEach((task) => task.children.size > 0 && read.push(task));
            }
        });
        await Promise.all(read.map((item) => this.resolve(item)));
    }

    /** Reads the suites around a document, so that its lines have icons. */
    async resolveDocument(uri: vscode.Uri): Promise<void> {
        if (this.controller.items.size === 0) {
            await this.resolve();
        }
        const suites: vscode.TestItem[] = [];
        this.controller.items.forEach((item) => {
            const folder = item.uri === undefined ? undefined : vscode.Uri.joinPath(item.uri, "..").fsPath;
            if (item.children.size === 0 && folder !== undefined && uri.fsPath.startsWith(folder + path.sep)) {
                suites.push(item);
            }
        });
        await Promise.all(suites.map((suite) => this.resolve(suite)));
    }

    /** Returns the item with an id; creates it and its parents if they were not read yet. */
    item(id: string, label?: string, location?: Location): vscode.TestItem {
        const known = this.items.get(id);
        if (known !== undefined) {
            return known;
        }
        const parent = parentOf(id);
        const siblings = parent === undefined ? this.controller.items : this.item(parent).children;
        const parentUri = parent === undefined || !isTrial(id) ? undefined : this.item(parent).uri;
        const uri = parentUri ?? (location === undefined ? vscode.Uri.file(suiteOf(runnableOf(id))) : vscode.Uri.parse(location.uri));
        const item = this.controller.createTestItem(id, label ?? titleOf(id).split(" › ").at(-1) ?? id, uri);
        if (location !== undefined) {
            item.range = rangeOf(location.range);
        }
        const trial = isTrial(id) ? trialNumberOf(id) : undefined;
        if (trial !== undefined && parent !== undefined) {
            // Sorts trials together, by number; a space sorts before the names of the suite's graders.
            item.range = this.item(parent).range;
            item.sortText = ` trial ${String(trial).padStart(6, "0")}`;
        }
        // The graders of a task that a run has reported first still have to be read.
        item.canResolveChildren = !isLeaf(id) && id.split("::").length < 3;
        item.tags = [RUNNABLE];
        this.describe(item);
        this.items.set(id, item);
        if (trial === undefined && kindOf(id) !== "grader") {
            this.unreported.add(id);
        }
        siblings.add(item);
        return item;
    }

    /** Returns the id to run for an item: from the server or, if only a run has reported the item, from its id. */
    readonly runnable = (id: string): string | undefined => {
        const runnableId = this.runs.has(id) ? id : runnableOf(id); // the server reports the task of a trial, not the trial
        return this.runs.has(runnableId) ? this.runs.get(runnableId) : runnableId;
    };

    /** Adds a part of the path to suites with the same name in one workspace folder. */
    private distinguishSuites(suites: readonly vscode.TestItem[]): void {
        const named = suites.map(({ id, label }) => ({ name: `${label}\n${folderOf(suiteOf(id)) ?? ""}`, file: suiteOf(id) }));
        this.distinguishing = distinguishingPaths(named);
        const titles = suites.map(({ id, label }): [string, string] => {
            const distinguishing = this.distinguishing.get(suiteOf(id));
            return [suiteOf(id), distinguishing === undefined ? label : `${label} (${distinguishing})`];
        });
        setSuiteTitles(new Map(titles));
        suites.forEach((suite) => {
            this.describe(suite);
        });
    }

    /** Returns the ids of the tasks and prompts of a suite that have been read. */
    childIds(suite: string): string[] {
        const ids: string[] = [];
        this.items.get(suite)?.children.forEach(({ id }) => ids.push(id));
        return ids;
    }

    /** Returns the descendants of an item; for a selection of a suite, only those of the selected tasks and prompts. */
    descendants(item: vscode.TestItem, { tasks, prompts }: Pick<RunRequest, "tasks" | "prompts">): vscode.TestItem[] {
        const childIds: vscode.TestItem[] = [];
        const isLimited = kindOf(item.id) === "suite" && (tasks ?? prompts) !== undefined;
        item.children.forEach((child) => {
            const prompt = promptOf(child.id)?.text;
            const isIn = prompt === undefined ? tasks?.includes(taskOf(child.id) ?? "") === true : prompts?.includes(prompt) === true;
            if (!isLimited || isIn) {
                childIds.push(child, ...this.descendants(child, {}));
            }
        });
        return childIds;
    }

    /** Returns whether there are items that the server has not reported. */
    get hasUnreported(): boolean {
        return this.unreported.size > 0;
    }

    /** Returns the ids of all suites that have been read. */
    suites(): string[] {
        const ids: string[] = [];
        this.controller.items.forEach((item) => ids.push(item.id));
        return ids;
    }

    /** Returns whether a file has items. */
    has(file: vscode.Uri): boolean {
        return [...this.items.values()].some(({ uri }) => uri?.fsPath === file.fsPath);
    }

    /** Returns whether a folder has items. */
    hasFileBelow(folder: string): boolean {
        return [...this.items.values()].some(({ uri }) => uri?.fsPath.startsWith(folder + path.sep) === true);
    }

    /** Shows the stale results of a suite. */
    showStale(suite: string, stale: readonly StaleResult[]): void {
        const words = new Map(stale.map((each) => [each.id, each.words]));
        for (const [id, item] of this.items) {
            if (suiteIdOf(id) === suite) {
                setOrDelete(this.stale, id, words.get(id));
                this.describe(item);
            }
        }
        const whole = stale.filter((each) => each.whole).flatMap(({ id }) => [this.items.get(id), ...this.gradersInTrials(id)]);
        const outdated = whole.filter((item) => item !== undefined);
        if (outdated.length > 0) {
            this.controller.invalidateTestResults(outdated);
        }
    }

    /** Removes the stale reason of an item that has a new result. */
    clearStale(item: vscode.TestItem): void {
        if (this.stale.delete(item.id)) {
            this.describe(item);
        }
    }

    /** Returns the last failure of an item, unless a run outside of this window has replaced it. */
    failureOf(id: string): Failure | undefined {
        return this.isReplaced(id) ? undefined : this.failures.get(id);
    }

    /** Returns whether a run outside of this window has replaced the verdict of an item. */
    private isReplaced(id: string): boolean {
        return this.stale.get(id)?.includes("a newer run") === true;
    }

    /**
     * Returns the labels of the children that did not pass in their last run, or have such descendants: in this window or, for a task
     * with its own file, in any.
     *
     * @param isJudged returns whether the current run has a verdict of an item, which replaces the earlier one
     */
    failingBelow(item: vscode.TestItem, isJudged: (id: string) => boolean): string[] {
        const labels: string[] = [];
        if (this.isReplaced(item.id)) {
            return labels;
        }
        item.children.forEach((child) => {
            if (isJudged(child.id)) {
                return; // its verdict includes those below it
            }
            const hasMark = kindOf(child.id) === "task" && child.uri?.fsPath !== suiteOf(child.id) && this.recorded.has(child.uri?.toString() ?? "");
            if (this.failureOf(child.id) !== undefined || hasMark || this.failingBelow(child, isJudged).length > 0) {
                labels.push(child.label);
            }
        });
        return labels;
    }

    /** Marks a suite as run in this window, and removes the summary of its earlier run. */
    showBegin(suite: string): void {
        this.suitesRunHere.add(suite);
        this.showEnd(suite, undefined);
        this.describeAll();
    }

    /** Shows the summary of a run of a suite; undefined removes it. */
    showEnd(suite: string, words: string | undefined): void {
        setOrDelete(this.ended, suite, words);
        this.describe(this.item(suite));
    }

    /** Shows the suites and tasks that did not pass in a terminal, or before this window was opened, and have no icon. */
    showRecorded(files: FileMarks): void {
        this.recorded = files;
        this.describeAll();
    }

    private describeAll(): void {
        for (const item of this.items.values()) {
            this.describe(item);
        }
    }

    /** Returns why a suite, or a task with its own file, did not pass outside of this window. */
    private recordedReason({ id, uri }: vscode.TestItem): string | undefined {
        const kind = kindOf(id);
        const isWhole = kind === "suite" || (kind === "task" && uri?.fsPath !== suiteOf(id) && !isTrial(id));
        const mark = isWhole && !this.suitesRunHere.has(suiteIdOf(id)) ? this.recorded.get(uri?.toString() ?? "") : undefined;
        return mark === undefined ? undefined : mark.reason.startsWith("!") ? mark.reason : `✗ ${mark.reason}`;
    }

    /** Updates the description of an item. */
    private describe(item: vscode.TestItem): void {
        const distinguishing = kindOf(item.id) === "suite" ? this.distinguishing.get(suiteOf(item.id)) : undefined;
        const off = ["suite", "task"].includes(kindOf(item.id)) && this.runnable(item.id) === undefined ? "off" : undefined;
        item.description = descriptionOf(item.id, [distinguishing, off, this.ended.get(item.id) ?? this.recordedReason(item)], this.stale.get(item.id));
    }

    /** Returns the items of a grader in the trials of its task. */
    private gradersInTrials(grader: string): vscode.TestItem[] {
        const [task, found]: [string | undefined, vscode.TestItem[]] = [parentOf(grader), []];
        if (task !== undefined) {
            this.items.get(task)?.children.forEach(({ id }) => {
                const item = isInTrial(id) ? this.items.get(`${id}${grader.slice(task.length)}`) : undefined;
                found.push(...(item === undefined ? [] : [item]));
            });
        }
        return found;
    }

    private updateItem(client: LanguageClient, { id, runs, label, hasChildren, uri, range }: TreeItem): vscode.TestItem {
        const itemUri = client.protocol2CodeConverter.asUri(uri);
        let item = this.items.get(id);
        if (item?.uri?.toString() !== itemUri.toString()) {
            item = this.controller.createTestItem(id, label, itemUri);
            this.items.set(id, item);
        }
        this.runs.set(id, runs ?? undefined);
        this.unreported.delete(id);
        this.describe(item);
        item.label = label;
        item.range = rangeOf(range);
        item.canResolveChildren = hasChildren;
        item.tags = runs === null ? [] : [RUNNABLE];
        return item;
    }

    /** Removes the trials of the earlier run of a task: a new run may have fewer, and an old failed trial would make the task fail. */
    forgetTrials(task: vscode.TestItem): void {
        const trials: vscode.TestItem[] = [];
        task.children.forEach((child) => isInTrial(child.id) && trials.push(child));
        for (const trial of trials) {
            this.forget(trial);
            task.children.delete(trial.id);
        }
    }

    private forget(item: vscode.TestItem): void {
        this.items.delete(item.id);
        this.failures.delete(item.id);
        this.runs.delete(item.id);
        this.unreported.delete(item.id);
        item.children.forEach((child) => {
            this.forget(child);
        });
    }
}

/**
 * Returns the description of an item: the workspace folder of a suite, `own` (distinguishing path, "off", summary of the last run),
 * the expectation of a trigger prompt, and why the result is stale.
 */
function descriptionOf(id: string, own: readonly (string | undefined)[], stale: string | undefined): string {
    const should = promptOf(id) === undefined ? undefined : id.includes("#leaves:") ? "should not trigger" : "should trigger";
    const folder = kindOf(id) === "suite" ? folderOf(suiteOf(id)) : undefined;
    return [folder, ...own, should, stale].filter((each) => each !== undefined).join(" · ");
}

function setOrDelete(words: Map<string, string>, id: string, value: string | undefined): void {
    if (value === undefined) {
        words.delete(id);
    } else {
        words.set(id, value);
    }
}

export function rangeOf({ start, end }: Range): vscode.Range {
    return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** Returns whether an item has no children: a prompt, or a trial of a run. */
function isLeaf(id: string): boolean {
    return promptOf(id) !== undefined || isTrial(id);
}
