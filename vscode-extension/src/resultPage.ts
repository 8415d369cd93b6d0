/** Shows the last run of a suite or a task in a webview: the server returns Markdown, VS Code renders it, and buttons are added. */

import * as vscode from "vscode";
import { ErrorCodes, type LanguageClient, ResponseError } from "vscode-languageclient/node";
import { completeStep } from "./contextKeys";
import { suiteIdOf, suiteOf } from "./itemIds";
import { errorMessage } from "./messages";
import { engineOptionsToSettings } from "./reasons";
import { type AnsweredTask, escaped, PAGE_COMMANDS, resultHtml, type TrialWorkspace } from "./resultHtml";
import { titleInWorkspace } from "./runTitles";
import type { RunView } from "./runViews";

const STYLE = ["media", "result.css"];

/** The answer of `waza/resultDocument`; see docs/protocol.md. */
interface ResultDocument {
    readonly markdown: string;
    readonly workspaces: readonly TrialWorkspace[];
    readonly answered: readonly AnsweredTask[];
    readonly tasks: readonly AnsweredTask[];
    readonly resultsFile: string;
    /** True if the run is active: the page shows the finished part. */
    readonly goesOn: boolean;
    /** True if some tasks were graded again since. */
    readonly regraded: boolean;
    /** True if an answer needs a review. */
    readonly waits: boolean;
}

/** An answer of `waza/recordedRuns`, as far as it is used here. */
interface RecordedRun {
    readonly resultsFile: string;
}

const EMPTY = { workspaces: [], answered: [], tasks: [], resultsFile: "", goesOn: false, regraded: false, waits: false, comparable: false };
const RUN_ACTIVE = "A run is in progress; this page shows an earlier one.";
const REGRADED = "Graded again since: the files show the new results, this page shows the recorded run.";
/** The suffix of the file of an active run. */
const JOURNAL_SUFFIX = ".partial.jsonl";
const REDRAW_AFTER_MILLISECONDS = 300;
/** The interval of updates of an active run: the end of an external run is not reported. */
const POLL_MILLISECONDS = 3_000;

/** The state of the page, stored in the workspace state: a webview without scripts cannot store its state. */
interface Shown {
    readonly id: string;
    /** The result file; "" if there was none. */
    readonly record: string;
}

const VIEW_TYPE = "waza.result";
const KEY = "waza.shownResult";

export class ResultPage implements vscode.WebviewPanelSerializer, vscode.Disposable {
    private readonly registration = vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, this);
    private panel: vscode.WebviewPanel | undefined;
    private id = "";
    /** The result file that is shown; "" if there is none. */
    private record = "";
    /** The result file of the run that has just ended here; "" to show the newest run. */
    private endedRecord = "";
    /** The recorded runs when `endedRecord` was first drawn; any other run is newer, even an external one. */
    private knownRuns: ReadonlySet<string> | undefined;
    private html = "";
    /** The ids of the active runs. */
    private readonly activeIds: string[] = [];
    /** True if something has changed since the page was drawn. */
    private outdated = false;
    private redrawing: NodeJS.Timeout | undefined;
    private polling: NodeJS.Timeout | undefined;
    private drawCount = 0;

    /** @param connect starts the server unless it is up */
    constructor(
        private readonly client: () => LanguageClient | undefined,
        private readonly connect: () => Promise<unknown>,
        private readonly extension: vscode.Uri,
        private readonly memory: vscode.Memento,
    ) {}

    /** Shows the result of a suite or a task in the one result page of the window. */
    async open(id: string): Promise<void> {
        this.endedRecord = "";
        this.panel ??= this.configure(vscode.window.createWebviewPanel(VIEW_TYPE, "Result", vscode.ViewColumn.Active, { enableFindWidget: true }));
        this.show(id);
        this.panel.reveal();
        void completeStep.resultRead();
        await this.draw();
    }

    /** Restores the page after a reload of the window. */
    async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
        const shown = this.memory.get<Shown>(KEY);
        if (shown === undefined || this.panel !== undefined) {
            panel.dispose();
            return;
        }
        this.panel = this.configure(panel);
        this.show(shown.id);
        this.record = shown.record;
        await this.connect();
        await this.draw();
    }

    /** The eval file of the page if it is the active editor. */
    get activeSuite(): string | undefined {
        return this.panel?.active === true && this.id !== "" ? suiteOf(this.id) : undefined;
    }

    /** Returns the view of a run: the open page shows that it is active, and then its result. */
    view(id: string): RunView {
        let recorded = "";
        this.activeIds.push(id);
        this.refreshSoon();
        return {
            take: (event) => {
                recorded = event.results_file ?? recorded;
            },
            end: () => {
                this.activeIds.splice(this.activeIds.indexOf(id), 1);
                if (suiteIdOf(id) === suiteIdOf(this.id)) {
                    this.record = "";
                    this.endedRecord = id === this.id ? recorded : ""; // else a run of a part may have begun later
                    this.knownRuns = undefined;
                    void this.draw(); // also while hidden, so that the result is there when the user returns
                }
                this.refreshSoon();
            },
        };
    }

    /** Draws the open page again after a delay. */
    refreshSoon(): void {
        this.outdated = true;
        clearTimeout(this.redrawing);
        this.redrawing = setTimeout(() => {
            if (this.panel?.visible === true) {
                void this.draw();
            }
        }, REDRAW_AFTER_MILLISECONDS);
    }

    /** Draws a page that waits for the server. */
    serverStarted(): void {
        void this.draw();
    }

    dispose(): void {
        clearTimeout(this.redrawing);
        clearTimeout(this.polling);
        this.registration.dispose(); // the page stays open: the next window restores it
    }

    private configure(panel: vscode.WebviewPanel): vscode.WebviewPanel {
        panel.webview.options = {
            enableCommandUris: PAGE_COMMANDS,
            localResourceRoots: [vscode.Uri.joinPath(this.extension, "media")],
        };
        panel.onDidDispose(() => {
            this.panel = undefined;
            this.html = "";
        });
        panel.onDidChangeViewState(() => {
            if (panel.visible && this.outdated) {
                void this.draw();
            }
        });
        return panel;
    }

    private show(id: string): void {
        this.id = id;
        this.record = "";
        if (this.panel !== undefined) {
            this.panel.title = `${titleInWorkspace(id)} result`;
        }
    }

    private async draw(): Promise<void> {
        const [panel, id] = [this.panel, this.id];
        if (panel === undefined) {
            return;
        }
        this.outdated = false;
        this.drawCount += 1;
        const [drawNumber, before] = [this.drawCount, this.record];
        clearTimeout(this.polling);
        const { markdown, resultsFile: record, goesOn, regraded, ...found } = await this.read(id);
        // Checked after reading: a run that is deleted in between would seem to be the one before it.
        const goneNotice = await missingNotice({ id, record: before });
        const rendered = await render(engineOptionsToSettings(markdown));
        if (this.panel !== panel || this.drawCount !== drawNumber) {
            return; // the page was closed, or drawn again
        }
        const isOld = !goesOn && record !== "" && this.activeIds.some((each) => isPart(each, id) || isPart(id, each));
        const notices = [goneNotice, isOld ? RUN_ACTIVE : "", regraded ? REGRADED : ""].filter((notice) => notice !== "");
        const style = panel.webview.asWebviewUri(vscode.Uri.joinPath(this.extension, ...STYLE)).toString();
        const html = resultHtml({ id, notices, rendered, record, ...found, style, styleSource: panel.webview.cspSource });
        panel.title = `${titleInWorkspace(id)} result`; // the name of the suite may be known only now
        if (html !== this.html) {
            this.html = panel.webview.html = html; // setting it again would scroll to the top
        }
        if (record !== "") {
            this.record = goneNotice === "" ? record : before; // the notice stays until another page is opened
            await this.memory.update(KEY, { id, record: this.record } satisfies Shown);
        }
        if (goesOn) {
            this.polling = setTimeout(() => {
                this.refreshSoon();
            }, POLL_MILLISECONDS);
        }
    }

    private async read(id: string): Promise<ResultDocument & { comparable: boolean }> {
        const client = this.client();
        if (client === undefined) {
            return { ...EMPTY, markdown: "The Waza language server is not running; the result appears here as soon as it is." };
        }
        try {
            const record = this.endedRecord;
            const runs = (await client.sendRequest<RecordedRun[]>("waza/recordedRuns", { id })).map(({ resultsFile }) => resultsFile);
            if (record !== "" && this.endedRecord === record) {
                this.knownRuns ??= new Set(runs);
                if (runs.some((run) => run !== record && this.knownRuns?.has(run) === false)) {
                    this.endedRecord = "";
                }
            }
            return { ...(await this.pageOf(client, id)), comparable: runs.length > 1 };
        } catch (error) {
            return { ...EMPTY, markdown: fenced(errorMessage(error)) };
        }
    }

    /** Requests the page of the run that has just ended, or of the newest one. */
    private async pageOf(client: LanguageClient, id: string): Promise<ResultDocument> {
        const record = this.endedRecord;
        if (record !== "") {
            try {
                return await client.sendRequest<ResultDocument>("waza/resultDocument", { id, record });
            } catch (error) {
                if (this.endedRecord === record && error instanceof ResponseError && error.code === ErrorCodes.InvalidParams) {
                    this.endedRecord = ""; // the file was deleted
                }
            }
        }
        return client.sendRequest<ResultDocument>("waza/resultDocument", { id });
    }
}

/** Returns whether an id equals another one or is a part of it. */
function isPart(id: string, whole: string): boolean {
    return id === whole || id.startsWith(`${whole}::`) || id.startsWith(`${whole}#`);
}

/** Returns a notice that the run which was shown was deleted; "" if it was not. */
async function missingNotice({ id, record }: Shown): Promise<string> {
    if (record === "" || record.endsWith(JOURNAL_SUFFIX)) {
        return ""; // nothing was shown, or an active run, whose file is renamed at its end
    }
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

/** Renders with VS Code's Markdown extension, which may be disabled. */
async function render(markdown: string): Promise<string> {
    try {
        return await vscode.commands.executeCommand<string>("markdown.api.render", markdown);
    } catch {
        return `<pre>${escaped(markdown)}</pre>`;
    }
}

/** Returns a message as a fenced block, so that it is not read as Markdown. */
function fenced(message: string): string {
    const fence = "`".repeat(Math.max(3, ...[...message.matchAll(/`+/gu)].map(([ticks]) => ticks.length + 1)));
    return `${fence}\n${message}\n${fence}`;
}
