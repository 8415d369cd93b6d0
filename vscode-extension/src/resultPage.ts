/** The last run of a suite or a task as a page: the server tells it, VS Code's Markdown renders it, buttons lead on. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { type AnsweredTask, escaped, PAGE_COMMANDS, resultHtml, type TrialWorkspace } from "./resultHtml";
import { titleOf } from "./runnables";
import type { RunView } from "./runViews";

const STYLE = ["media", "result.css"];

/** The answer of `waza/resultDocument`; see docs/protocol.md. */
interface ResultDocument {
    readonly markdown: string;
    readonly workspaces: readonly TrialWorkspace[];
    readonly answered: readonly AnsweredTask[];
    readonly resultsFile: string;
}

const NOTHING = { workspaces: [], answered: [], resultsFile: "", comparable: false };

export class ResultPage implements vscode.Disposable {
    private panel: vscode.WebviewPanel | undefined;
    private id = "";

    constructor(
        private readonly client: () => LanguageClient | undefined,
        private readonly extension: vscode.Uri,
    ) {}

    /** Shows the page of the suite or task with this id, in the place of the one that is open. */
    async open(id: string): Promise<void> {
        this.id = id;
        this.panel ??= this.create();
        this.panel.title = `${titleOf(id)} result`;
        this.panel.reveal();
        await this.draw();
    }

    /** Draws the open page again when a run has ended. */
    view(): RunView {
        return { take: () => undefined, end: () => void this.draw() };
    }

    dispose(): void {
        this.panel?.dispose();
    }

    private create(): vscode.WebviewPanel {
        const panel = vscode.window.createWebviewPanel("waza.result", "Result", vscode.ViewColumn.Active, {
            enableCommandUris: PAGE_COMMANDS,
            enableFindWidget: true,
            localResourceRoots: [vscode.Uri.joinPath(this.extension, "media")],
        });
        panel.onDidDispose(() => {
            this.panel = undefined;
        });
        return panel;
    }

    private async draw(): Promise<void> {
        const [panel, id] = [this.panel, this.id];
        if (panel === undefined) {
            return;
        }
        const { markdown, resultsFile: record, ...found } = await this.read(id);
        const rendered = await render(markdown);
        if (this.panel !== panel || this.id !== id) {
            return; // closed, or another page by now
        }
        const style = panel.webview.asWebviewUri(vscode.Uri.joinPath(this.extension, ...STYLE)).toString();
        panel.webview.html = resultHtml({ id, rendered, record, ...found, style, styleSource: panel.webview.cspSource });
    }

    private async read(id: string): Promise<ResultDocument & { comparable: boolean }> {
        const client = this.client();
        if (client === undefined) {
            return { ...NOTHING, markdown: "The Waza language server is not running." };
        }
        try {
            const page = await client.sendRequest<ResultDocument>("waza/resultDocument", { id });
            const runs = await client.sendRequest<unknown[]>("waza/recordedRuns", { id });
            return { ...page, comparable: runs.length > 1 };
        } catch (error) {
            return { ...NOTHING, markdown: fenced(error instanceof Error ? error.message : String(error)) };
        }
    }
}

/** Renders with the Markdown of VS Code, which somebody may have switched off. */
async function render(markdown: string): Promise<string> {
    try {
        return await vscode.commands.executeCommand<string>("markdown.api.render", markdown);
    } catch {
        return `<pre>${escaped(markdown)}</pre>`;
    }
}

/** A message as it is: what it quotes of files is no Markdown. */
function fenced(message: string): string {
    const fence = "`".repeat(Math.max(3, ...[...message.matchAll(/`+/gu)].map(([ticks]) => ticks.length + 1)));
    return `${fence}\n${message}\n${fence}`;
}
