/** The items of the Test Explorer: read from the server level by level, or made of what a run tells. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { LanguageClient, Location, Range } from "vscode-languageclient/node";
import type { FileMarks } from "../marks";
import { kindOf, setSuiteTitles, promptOf, suiteIdOf, suiteOf, taskOf, titleOf } from "../runnables";
import type { RunRequest } from "../runs";
import { folderOf } from "../runTitles";
import { distinguishingPaths } from "./distinguishingPaths";
import { runnableOf } from "./reports";
import type { StaleResult } from "./staleness";

/** One answer of the request `waza/tests`; see docs/protocol.md. */
interface TreeItem {
    readonly id: string;
    /** The id of what runs with it: its own, or that of its task for what cannot be judged apart; null of what is switched off. */
    readonly runs: string | null;
    readonly kind: "suite" | "task" | "grader" | "prompt";
    readonly label: string;
    readonly hasChildren: boolean;
    readonly uri: string;
    readonly range: Range;
}

/** The items that can run separately. */
export const RUNNABLE = new vscode.TestTag("waza.runnable");

/** A verdict that is not a pass. */
export interface Failure {
    readonly verdict: "failed" | "errored";
    readonly messages: readonly vscode.TestMessage[];
    readonly duration: number | undefined;
}

export class TestTree {
    private readonly items = new Map<string, vscode.TestItem>();
    /** The runnable of each item that the server has reported. */
    private readonly runs = new Map<string, string | undefined>();
    /** The suites, tasks and prompts that only a run has reported: their files may have been deleted during the run. */
    private readonly unreported = new Set<string>();
    /** Why results may no longer hold, by item. */
    private readonly stale = new Map<string, string>();
    /** The last verdict in this window of each item that did not pass. */
    readonly failures = new Map<string, Failure>();
    /** How the last run of a suite, or of a part, ended: VS Code computes the icon and shows an error even if tasks failed. */
    private readonly ended = new Map<string, string>();
    /** The suites of which this window has judged something: their icons say what came out. */
    private readonly suitesRunHere = new Set<string>();
    /** The files whose last run did not pass, in any window or terminal. */
    private recorded: FileMarks = new Map();
    /** The distinguishing path parts of suites with the same name, by file. */
    private distinguishing: ReadonlyMap<string, string> = new Map();

    constructor(
        private readonly controller: vscode.TestController,
        private readonly client: () => LanguageClient | undefined,
    ) {}

    /** Reads the children of an item, or the suites of the workspace. */
    async resolve(parent?: vscode.TestItem): Promise<void> {
        const client = this.client();
        if (client === undefined || (parent !== undefined && isLeaf(parent.id))) {
            return;
        }
        const found = await client.sendRequest<TreeItem[]>("waza/tests", { parent: parent?.id ?? null });
        const children = parent?.children ?? this.controller.items;
        const items = found.map((item) => this.updateItem(client, item));
        // Trials of the last run stay until the next one (`forgetTrials`).
        children.forEach((child) => {
            if (child.id.includes("#trial-")) {
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

    /** Reads again what was read before: files have changed. */
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

    /** Reads the suite of a document and its items, so that its lines have icons. */
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

    /** Returns the item of an id; creates it, with its parents, if it was not read yet. */
    item(id: string, label?: string, location?: Location): vscode.TestItem {
        const known = this.items.get(id);
        if (known !== undefined) {
            return known;
        }
        const parent = parentOf(id);
        const siblings = parent === undefined ? this.controller.items : this.item(parent).children;
        const around = parent === undefined || trialIn(id) === undefined ? undefined : this.item(parent).uri;
        const uri = around ?? (location === undefined ? vscode.Uri.file(suiteOf(runnableOf(id))) : vscode.Uri.parse(location.uri));
        const made = this.controller.createTestItem(id, label ?? titleOf(id).split(" › ").at(-1) ?? id, uri);
        if (location !== undefined) {
            made.range = rangeOf(location.range);
        }
        const trial = trialIn(id);
        if (trial !== undefined && parent !== undefined) {
            // Sorts trials together, by number; a space sorts before the names of the suite's graders.
            made.range = this.item(parent).range;
            made.sortText = ` trial ${String(trial).padStart(6, "0")}`;
        }
        // If a run reported the task first, its graders still have to be read.
        made.canResolveChildren = !isLeaf(id) && id.split("::").length < 3;
        made.tags = [RUNNABLE];
        this.describe(made);
        this.items.set(id, made);
        if (trial === undefined && kindOf(id) !== "grader") {
            this.unreported.add(id);
        }
        siblings.add(made);
        return made;
    }

    /** Returns the id to run for an item: from the server or, if only a run has reported the item, from its id. */
    readonly runnable = (id: string): string | undefined => {
        const runnableId = this.runs.has(id) ? id : runnableOf(id); // trials exist in runs only, their tasks do not
        return this.runs.has(runnableId) ? this.runs.get(runnableId) : runnableId;
    };

    /** Adds the location to suites with the same name; suites in several workspace folders show the folder already. */
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

    /** The ids of the tasks and prompts of a suite that have been read. */
    childIds(suite: string): string[] {
        const ids: string[] = [];
        this.items.get(suite)?.children.forEach(({ id }) => ids.push(id));
        return ids;
    }

    /** Returns all descendants of an item; for a suite that is limited to some tasks and prompts, only theirs. */
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

    /** The ids of all suites that have been read. */
    suites(): string[] {
        const ids: string[] = [];
        this.controller.items.forEach((item) => ids.push(item.id));
        return ids;
    }

    /** Returns whether an item is in a file. */
    has(file: vscode.Uri): boolean {
        return [...this.items.values()].some(({ uri }) => uri?.fsPath === file.fsPath);
    }

    /** Returns whether the file of an item is in a folder. */
    hasFileBelow(folder: string): boolean {
        return [...this.items.values()].some(({ uri }) => uri?.fsPath.startsWith(folder + path.sep) === true);
    }

    /** Shows which results of a suite may no longer hold; the others keep their icons. */
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

    /** Shows that an item has a new result: removes the stale reason of the earlier one. */
    clearStale(item: vscode.TestItem): void {
        if (this.stale.delete(item.id)) {
            this.describe(item);
        }
    }

    /** Returns the last verdict of an item if it did not pass, and no run outside of this window has replaced it. */
    failureOf(id: string): Failure | undefined {
        return this.isReplaced(id) ? undefined : this.failures.get(id);
    }

    /** Returns whether a run outside of this window has replaced the verdict of an item. */
    private isReplaced(id: string): boolean {
        return this.stale.get(id)?.includes("a newer run") === true;
    }

    /**
     * Returns the labels of the children of an item of which something did not pass when it last ran: in this window, or, for a
     * task with a file of its own, in any.
     *
     * @param isJudged whether the current run has judged an item, so that its earlier verdict does not count
     */
    failingBelow(item: vscode.TestItem, isJudged: (id: string) => boolean): string[] {
        const labels: string[] = [];
        if (this.isReplaced(item.id)) {
            return labels;
        }
        item.children.forEach((child) => {
            if (isJudged(child.id)) {
                return; // its verdict is reported, and those below it belong to it
            }
            const hasMark = kindOf(child.id) === "task" && child.uri?.fsPath !== suiteOf(child.id) && this.recorded.has(child.uri?.toString() ?? "");
            if (this.failureOf(child.id) !== undefined || hasMark || this.failingBelow(child, isJudged).length > 0) {
                labels.push(child.label);
            }
        });
        return labels;
    }

    /** Shows that a suite runs in this window; earlier results of it are outdated. */
    showBegin(suite: string): void {
        this.suitesRunHere.add(suite);
        this.showEnd(suite, undefined);
        this.describeAll();
    }

    /** Shows how a run of a suite ended; undefined removes it. */
    showEnd(suite: string, words: string | undefined): void {
        setOrDelete(this.ended, suite, words);
        this.describe(this.item(suite));
    }

    /** Shows which suites and tasks did not pass where no icon says so: they ran in a terminal, or before this window was opened. */
    showRecorded(files: FileMarks): void {
        this.recorded = files;
        this.describeAll();
    }

    private describeAll(): void {
        for (const item of this.items.values()) {
            this.describe(item);
        }
    }

    /** Returns the recorded reason of a suite, or a task with its own file, that did not pass. */
    private recordedReason({ id, uri }: vscode.TestItem): string | undefined {
        const kind = kindOf(id);
        const isWhole = kind === "suite" || (kind === "task" && uri?.fsPath !== suiteOf(id) && trialIn(id) === undefined);
        const mark = isWhole && !this.suitesRunHere.has(suiteIdOf(id)) ? this.recorded.get(uri?.toString() ?? "") : undefined;
        return mark === undefined ? undefined : mark.reason.startsWith("!") ? mark.reason : `✗ ${mark.reason}`;
    }

    /** Adds to the label of an item what its icon does not show. */
    private describe(item: vscode.TestItem): void {
        const distinguishing = kindOf(item.id) === "suite" ? this.distinguishing.get(suiteOf(item.id)) : undefined;
        const off = ["suite", "task"].includes(kindOf(item.id)) && this.runnable(item.id) === undefined ? "off" : undefined;
        item.description = descriptionOf(item.id, [distinguishing, off, this.ended.get(item.id) ?? this.recordedReason(item)], this.stale.get(item.id));
    }

    /** The items of a grader in the single trials of its task. */
    private gradersInTrials(grader: string): vscode.TestItem[] {
        const [task, found]: [string | undefined, vscode.TestItem[]] = [parentOf(grader), []];
        if (task !== undefined) {
            this.items.get(task)?.children.forEach(({ id }) => {
                const item = id.includes("#trial-") ? this.items.get(`${id}${grader.slice(task.length)}`) : undefined;
                found.push(...(item === undefined ? [] : [item]));
            });
        }
        return found;
    }

    private updateItem(client: LanguageClient, { id, runs, label, hasChildren, uri, range }: TreeItem): vscode.TestItem {
        const place = client.protocol2CodeConverter.asUri(uri);
        let item = this.items.get(id);
        if (item?.uri?.toString() !== place.toString()) {
            item = this.controller.createTestItem(id, label, place);
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

    /** Takes away the trials of an earlier run of a task: this one may have fewer, and an old one would fail for it. */
    forgetTrials(task: vscode.TestItem): void {
        const trials: vscode.TestItem[] = [];
        task.children.forEach((child) => child.id.includes("#trial-") && trials.push(child));
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
 * Returns the description after the label of an item: the folder of a suite in a window of several, what is its own (what tells it from another of its
 * name, that it is switched off, how its run ended), what a prompt should do, and that its result may no longer hold.
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
    return promptOf(id) !== undefined || id.includes("#trial-");
}

/** The number of the trial that an item is; undefined for any other, the graders in a trial too. */
function trialIn(id: string): number | undefined {
    const found = /#trial-(\d+)$/u.exec(id)?.[1];
    return found === undefined ? undefined : Number(found);
}

/** `suite::task::grader` → `suite::task` → `suite`; a trial and a prompt belong to the part before their `#`. */
function parentOf(id: string): string | undefined {
    const prompt = promptOf(id);
    if (prompt !== undefined) {
        return prompt.suite;
    }
    const trial = id.indexOf("#trial-");
    const at = id.lastIndexOf("::");
    if (trial >= 0 && at < trial) {
        return id.slice(0, trial);
    }
    return at < 0 ? undefined : id.slice(0, at);
}
