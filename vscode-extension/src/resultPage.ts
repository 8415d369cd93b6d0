/** The last run of a suite or a task as a page: the server tells it, VS Code's Markdown renders it, buttons lead on. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { type AnsweredTask, escaped, PAGE_COMMANDS, resultHtml, type TrialWorkspace } from "./resultHtml";
import { suiteOf, titleOf } from "./runnables";
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

/** What the page shows, kept by the window: without a script a page cannot keep it itself. */
interface Shown {
    readonly id: string;
    /** The result file, "" when there was none. */
    readonly record: string;
}

const VIEW_TYPE = "waza.result";
const KEY = "waza.shownResult";

export class ResultPage implements vscode.WebviewPanelSerializer, vscode.Disposable {
    private readonly registration = vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, this);
    private panel: vscode.WebviewPanel | undefined;
    private id = "";
    /** Said above the page: what it has shown before the window was reloaded is gone. */
    private notice = "";

    /** @param connect starts the server unless it runs */
    constructor(
        private readonly client: () => LanguageClient | undefined,
        private readonly connect: () => Promise<unknown>,
        private readonly extension: vscode.Uri,
        private readonly memory: vscode.Memento,
    ) {}

    /** Shows the page of the suite or task with this id, in the place of the one that is open. */
    async open(id: string): Promise<void> {
        this.notice = "";
        this.panel ??= this.adopt(vscode.window.createWebviewPanel(VIEW_TYPE, "Result", vscode.ViewColumn.Active, { enableFindWidget: true }));
        this.show(id);
        this.panel.reveal();
        await this.draw();
    }

    /** Shows again what the page has shown before the window was reloaded. */
    async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
        const shown = this.memory.get<Shown>(KEY);
        if (shown === undefined || this.panel !== undefined) {
            panel.dispose();
            return;
        }
        this.panel = this.adopt(panel);
        this.show(shown.id);
        this.notice = await missing(shown);
        await this.connect();
        await this.draw();
    }

    /** Draws the open page again when a run has ended. */
    view(): RunView {
        return {
            take: () => undefined,
            end: () => {
                this.notice = "";
                void this.draw();
            },
        };
    }

    /** Draws the page that waits for the server. */
    serverStarted(): void {
        void this.draw();
    }

    dispose(): void {
        this.registration.dispose(); // the page stays where it is: the window restores it when it opens again
    }

    private adopt(panel: vscode.WebviewPanel): vscode.WebviewPanel {
        panel.webview.options = {
            enableCommandUris: PAGE_COMMANDS,
            localResourceRoots: [vscode.Uri.joinPath(this.extension, "media")],
        };
        panel.onDidDispose(() => {
            this.panel = undefined;
        });
        return panel;
    }

    private show(id: string): void {
        this.id = id;
        if (this.panel !== undefined) {
            this.panel.title = `${titleOf(id)} result`;
        }
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
        const { notice } = this;
        panel.webview.html = resultHtml({ id, notice, rendered, record, ...found, style, styleSource: panel.webview.cspSource });
        if (record !== "") {
            await this.memory.update(KEY, { id, record } satisfies Shown);
        }
    }

    private async read(id: string): Promise<ResultDocument & { comparable: boolean }> {
        const client = this.client();
        if (client === undefined) {
            return { ...NOTHING, markdown: "The Waza language server is not running; the result stands here as soon as it is." };
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

/** That the run which was shown is gone, "" when it is there. */
async function missing({ id, record }: Shown): Promise<string> {
    for (const [file, what] of [[suiteOf(id), "The suite"], [record, "The recorded run"]] as const) {
        try {
            await vscode.workspace.fs.stat(vscode.Uri.file(file));
        } catch (error) {
            if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") {
                return `${what} that was shown here is gone: ${file}`;
            }
        }
    }
    return "";
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
