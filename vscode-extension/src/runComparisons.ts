/** Changes between two runs of a suite or a task: the server returns Markdown, which VS Code's preview shows. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { promptOf, titleOf } from "./runnables";
import { engineOptionsToSettings } from "./runProgress";
import { runnableOf } from "./testing/reports";

const SCHEME = "waza-result";

/** One answer of the request `waza/recordedRuns`; see docs/protocol.md. */
interface RecordedRun {
    readonly resultsFile: string;
    readonly timestamp: string;
    readonly verdict: string;
    /** To what part of the suite it was limited, "" for all of it. */
    readonly part?: string;
}

export class RunComparisons implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

    constructor(private readonly client: () => LanguageClient | undefined) {}

    async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
        const client = this.client();
        if (client === undefined) {
            return "The Waza language server is not running.";
        }
        try {
            const query = JSON.parse(uri.query) as unknown;
            return engineOptionsToSettings((await client.sendRequest<{ markdown: string }>("waza/resultDocument", query)).markdown);
        } catch (error) {
            return error instanceof Error ? error.message : String(error);
        }
    }

    /** Shows the changes from an earlier run of the item with an id to its newest one; asks which when there are several. */
    async compare(client: LanguageClient, item: string): Promise<void> {
        const id = recordedItemOf(item);
        const runs = await client.sendRequest<RecordedRun[]>("waza/recordedRuns", { id });
        const [newest, ...earlier] = runs;
        if (newest === undefined || earlier.length === 0) {
            void vscode.window.showInformationMessage("Nothing to compare yet: there are fewer than two runs.");
            return;
        }
        const picks = earlier.map((run) => ({ label: timeOf(run), description: describe(run), run }));
        const options = { title: "Compare the Last Run With", placeHolder: `the run of ${timeOf(newest)}: ${describe(newest)}` };
        const chosen = picks.length === 1 ? picks[0] : await vscode.window.showQuickPick(picks, options);
        if (chosen !== undefined) {
            await vscode.commands.executeCommand("markdown.showPreview", comparisonUri(id, newest, chosen.run));
        }
    }

    dispose(): void {
        this.registration.dispose();
    }
}

/** The id of the suite or the task whose record has what an item is: a trial, a grader or a prompt. */
export function recordedItemOf(item: string): string {
    const [suite, task] = promptOf(item) !== undefined ? [promptOf(item)?.suite] : runnableOf(item).split("::");
    return task === undefined || task === "" ? (suite ?? "") : `${suite ?? ""}::${task}`;
}

/** Returns the page of the changes of an item in a run since an earlier one. */
function comparisonUri(id: string, run: RecordedRun, since: RecordedRun): vscode.Uri {
    const name = `${titleOf(id)} since ${timeOf(since)}`.replaceAll(/[/\\?#]/gu, "-");
    const query = JSON.stringify({ id, record: run.resultsFile, since: since.resultsFile });
    return vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md`, query });
}

function timeOf({ timestamp }: RecordedRun): string {
    return new Date(timestamp).toLocaleString("sv"); // 2026-11-26 16:23:09, as everywhere
}

function describe({ verdict, part = "" }: RecordedRun): string {
    return part === "" ? verdict : `${verdict}: ${part}`;
}

/** The id that a command of the Test Explorer was given: of an item, or of the one that a message belongs to. */
export function itemIdOf(argument: unknown): string | undefined {
    if (typeof argument === "string") {
        return argument;
    }
    const { id, test } = (argument ?? {}) as { id?: unknown; test?: { id?: unknown } };
    const found = id ?? test?.id;
    return typeof found === "string" ? found : undefined;
}

/** The result file that a button of a page names after its id. */
export function recordOf(argument: unknown): string | undefined {
    const { record } = (argument ?? {}) as { record?: unknown };
    return typeof record === "string" ? record : undefined;
}
