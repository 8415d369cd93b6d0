/** Shows the changes between two runs of a suite or a task: the server returns Markdown, which VS Code's preview shows. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { recordedItemOf, titleOf } from "./itemIds";
import { errorMessage } from "./messages";
import { engineOptionsToSettings } from "./reasons";

const SCHEME = "waza-result";

/** An answer of `waza/recordedRuns`; see docs/protocol.md. */
interface RecordedRun {
    readonly resultsFile: string;
    readonly timestamp: string;
    readonly verdict: string;
    /** The part of the suite that ran; "" for all of it. */
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
            return errorMessage(error);
        }
    }

    /** Shows the changes from an earlier run of an item to its newest one; asks for the earlier one if there are several. */
    async compare(client: LanguageClient, item: string): Promise<void> {
        const id = recordedItemOf(item);
        const runs = await client.sendRequest<RecordedRun[]>("waza/recordedRuns", { id });
        const [newest, ...earlier] = runs;
        if (newest === undefined || earlier.length === 0) {
            void vscode.window.showInformationMessage("Nothing to compare yet: there are fewer than two runs.");
            return;
        }
        const items = earlier.map((run) => ({ label: timeOf(run), description: describe(run), run }));
        const options = { title: "Compare the Last Run With", placeHolder: `the run of ${timeOf(newest)}: ${describe(newest)}` };
        const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, options);
        if (chosen !== undefined) {
            await vscode.commands.executeCommand("markdown.showPreview", comparisonUri(id, newest, chosen.run));
        }
    }

    dispose(): void {
        this.registration.dispose();
    }
}

/** Returns the URI of the comparison of a run with an earlier one. */
function comparisonUri(id: string, run: RecordedRun, since: RecordedRun): vscode.Uri {
    const name = `${titleOf(id)} since ${timeOf(since)}`.replaceAll(/[/\\?#]/gu, "-");
    const query = JSON.stringify({ id, record: run.resultsFile, since: since.resultsFile });
    return vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md`, query });
}

function timeOf({ timestamp }: RecordedRun): string {
    return new Date(timestamp).toLocaleString("sv"); // 2026-11-26 16:23:09, as in all other views
}

function describe({ verdict, part = "" }: RecordedRun): string {
    return part === "" ? verdict : `${verdict}: ${part}`;
}

/** Returns the id in the argument of a command of the Test Explorer: that of an item, or of the item of a message. */
export function itemIdOf(argument: unknown): string | undefined {
    if (typeof argument === "string") {
        return argument;
    }
    const { id, test } = (argument ?? {}) as { id?: unknown; test?: { id?: unknown } };
    const found = id ?? test?.id;
    return typeof found === "string" ? found : undefined;
}

/** Returns the result file in the argument of a button of a result page. */
export function recordOf(argument: unknown): string | undefined {
    const { record } = (argument ?? {}) as { record?: unknown };
    return typeof record === "string" ? record : undefined;
}
