/** Shows the suites of the workspace and every run of this window in the Test Explorer, however a run was started. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { FolderWatcher } from "../folderWatcher";
import { kindOf, suiteIdOf, suiteOf } from "../itemIds";
import type { FileMarks } from "../marks";
import { reasonFirst } from "../reasons";
import type { RunRequest, Runs } from "../runs";
import type { RunOptions } from "../runSettings";
import type { RunView } from "../runViews";
import { looksLikeSuiteFile, mayBeEvals } from "../suiteFiles";
import { affectedAmong, plannedRegrades, type PlannedRun, plannedRuns, suitesAmong } from "./plan";
import { RunReports, suiteDescription } from "./reports";
import { Staleness } from "./staleness";
import { TestRunView } from "./testRunView";
import { RUNNABLE, TestTree } from "./tree";

const REFRESH_AFTER_MILLISECONDS = 500;

export class TestExplorer implements vscode.Disposable {
    private readonly controller = vscode.tests.createTestController("waza", "Waza");
    private readonly tree: TestTree;
    private readonly staleness: Staleness;
    private readonly folders: FolderWatcher;
    private readonly listeners: vscode.Disposable[] = [];
    private readonly chosenRuns = new Map<string, vscode.TestRun>();
    private refreshing: NodeJS.Timeout | undefined;

    /**
     * @param client returns the language client while the server is up
     * @param ensureRunning starts the server unless it is up; undefined, after a message, if it cannot be started
     * @param askOptions asks for the options of a run, by its title and the id of its first item; undefined if cancelled
     */
    constructor(
        private readonly client: () => LanguageClient | undefined,
        private readonly ensureRunning: () => Promise<LanguageClient | undefined>,
        private readonly runs: Runs,
        private readonly askOptions: (title: string, id: string | undefined) => Promise<RunOptions | undefined>,
    ) {
        this.tree = new TestTree(this.controller, client);
        this.staleness = new Staleness(this.tree, client);
        this.controller.resolveHandler = (item) => this.tree.resolve(item);
        this.controller.refreshHandler = async () => {
            await this.folders.rescan(); // there may be changes that no watcher has reported
            await this.tree.refresh();
        };
        this.controller.createRunProfile(
            "Run",
            vscode.TestRunProfileKind.Run,
            (request, token) => this.run(request, token),
            true,
            RUNNABLE,
        );
        this.controller.createRunProfile(
            "Run With…",
            vscode.TestRunProfileKind.Run,
            async (request, token) => {
                const options = await this.askOptions("Run With…", request.include?.[0]?.id ?? this.tree.suites()[0]);
                if (options !== undefined) {
                    await this.run(request, token, options);
                }
            },
            false,
            RUNNABLE,
        );
        this.controller.createRunProfile(
            "Re-grade",
            vscode.TestRunProfileKind.Run,
            (request, token) => this.regrade(request, token),
            false,
            RUNNABLE,
        );
        this.controller.createRunProfile(
            "Run Affected",
            vscode.TestRunProfileKind.Run,
            (request, token) => this.runAffected(request, token),
            false,
            RUNNABLE,
        );
        runs.setRegradeView((id) => {
            const test = this.controller.createTestRun(new vscode.TestRunRequest([this.tree.item(shownId(id))]), "Re-grade");
            return this.regradeView(id, test, () => {
                test.end();
            });
        });
        const watcher = vscode.workspace.createFileSystemWatcher("**/{*.yaml,*.yml,evals.json,*.evals.json}");
        const later = () => {
            this.refreshSoon();
        };
        this.folders = new FolderWatcher(client, (folder) => this.tree.hasFileBelow(folder), later);
        this.listeners.push(
            watcher,
            watcher.onDidChange(later),
            watcher.onDidCreate(later),
            watcher.onDidDelete(later),
            vscode.workspace.onDidChangeWorkspaceFolders(later),
            runs.addView((started) => this.viewOf(started)),
            vscode.window.onDidChangeActiveTextEditor((editor) => void this.show(editor)),
        );
    }

    /** Reads the suites from a server that has just started. */
    async serverStarted(): Promise<void> {
        await this.tree.refresh();
        await this.show(vscode.window.activeTextEditor);
    }

    /** Updates the stale results after files or scores have changed. */
    scoresChanged(): void {
        this.staleness.refreshSoon();
    }

    /** Shows the verdicts of runs in other windows and terminals. */
    showRecorded(files: FileMarks): void {
        this.tree.showRecorded(files);
    }

    dispose(): void {
        clearTimeout(this.refreshing);
        this.listeners.forEach((listener) => listener.dispose() as unknown);
        this.staleness.dispose();
        this.folders.dispose();
        this.controller.dispose();
    }

    private async show(editor: vscode.TextEditor | undefined): Promise<void> {
        const { uri, languageId } = editor?.document ?? {};
        const mayBeSuiteFile = languageId === "yaml" || (uri !== undefined && mayBeEvals(uri.fsPath));
        if (mayBeSuiteFile && editor?.document.uri.scheme === "file" && this.client() !== undefined) {
            await this.tree.resolveDocument(editor.document.uri);
            // The server knows an eval file with another name, or outside of all folders, only while it is open.
            if (!this.tree.has(editor.document.uri) && looksLikeSuiteFile(editor.document.uri.fsPath, editor.document.getText())) {
                await this.tree.resolve();
                await this.tree.resolveDocument(editor.document.uri);
            }
        }
    }

    private refreshSoon(): void {
        clearTimeout(this.refreshing);
        this.refreshing = setTimeout(() => {
            if (this.client() !== undefined) {
                void this.tree.refresh();
            }
        }, REFRESH_AFTER_MILLISECONDS);
    }

    /** Returns the ids of the selected items; those of all suites if nothing is selected. */
    private selectedIds(request: vscode.TestRunRequest): string[] {
        return idsOf(request.include) ?? this.tree.suites();
    }

    private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken, options: RunOptions = {}): Promise<void> {
        const client = await this.ensureRunning();
        const selected = this.selectedIds(request);
        const test = this.controller.createTestRun(request);
        const planned = plannedRuns(selected, idsOf(request.exclude), this.tree.runnable, (suite) => this.tree.childIds(suite));
        planned.slice(1).forEach((each) => {
            this.enqueue(test, each);
        });
        try {
            await this.runs.asBatch(client === undefined ? 0 : planned.length, async (batch) => {
                for (const each of planned) {
                    if (client === undefined || token.isCancellationRequested) {
                        break;
                    }
                    this.chosenRuns.set(each.id, test);
                    await this.runs.run(client, { ...each, options }, token, batch);
                    if (this.chosenRuns.get(each.id) === test) {
                        this.chosenRuns.delete(each.id);
                    }
                }
            });
        } finally {
            test.end();
        }
    }

    /** Shows that a suite is queued; a run of selected tasks shows them as queued itself. */
    private enqueue(test: vscode.TestRun, { id, tasks, prompts }: PlannedRun): void {
        if (tasks === undefined && prompts === undefined) {
            test.enqueued(this.tree.item(id));
        }
    }

    /** Runs the selected items that have changed since their newest results. */
    private async runAffected(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
        const client = await this.ensureRunning();
        const selected = this.selectedIds(request);
        const changed: string[] = [];
        for (const suite of client === undefined ? [] : suitesAmong(selected)) {
            if (client !== undefined && !token.isCancellationRequested) {
                changed.push(...((await this.runs.affected(client, suite)) ?? []));
            }
        }
        const items = affectedAmong(selected, changed).map((id) => this.tree.item(id));
        if (items.length === 0) {
            void vscode.window.showInformationMessage("Waza: no selected item has changed since its newest result.");
        } else {
            await this.run(new vscode.TestRunRequest(items, request.exclude, request.profile), token);
        }
    }

    /** Grades recorded answers again, without the agent and its cost. */
    private async regrade(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
        const client = await this.ensureRunning();
        const selected = this.selectedIds(request);
        const test = this.controller.createTestRun(request, "Re-grade");
        try {
            for (const id of plannedRegrades(selected, idsOf(request.exclude), this.tree.runnable)) {
                if (client === undefined || token.isCancellationRequested) {
                    break;
                }
                await this.runs.regrades.regrade(client, id, this.regradeView(id, test, () => undefined));
            }
        } finally {
            test.end();
        }
    }

    private regradeView(id: string, test: vscode.TestRun, onEnd: () => void): RunView {
        this.tree.showBegin(suiteIdOf(id));
        const endRun = this.staleness.begin(suiteIdOf(id));
        return new TestRunView(this.tree, test, new RunReports({ id, kind: kindOf(id), whole: true }), shownId(id), () => {
            onEnd();
            endRun();
        });
    }

    /** Returns the view of a run: in the test run that has started it, else in a new one. */
    private viewOf(started: RunRequest): RunView {
        const chosenTest = this.chosenRuns.get(started.id);
        this.chosenRuns.delete(started.id); // the next run of this item is another one
        const test = chosenTest ?? this.controller.createTestRun(new vscode.TestRunRequest([this.tree.item(started.id)]));
        const target = { id: started.id, kind: kindOf(started.id), whole: started.tasks === undefined && started.prompts === undefined };
        const endRun = this.staleness.begin(suiteIdOf(started.id));
        const ended = () => {
            endRun();
            if (chosenTest === undefined) {
                test.end();
            }
            if (this.tree.hasUnreported) {
                this.refreshSoon(); // removes the items of tasks that were renamed or deleted during the run
            }
        };
        const view = new TestRunView(this.tree, test, new RunReports(target), started.id, ended, (item) => this.tree.descendants(item, started));
        this.tree.showBegin(suiteIdOf(started.id));
        if (target.kind === "suite" && target.whole) {
            this.tree.clearStale(this.tree.item(started.id));
        }
        let planned: string | undefined;
        let hasReportedEnd = false;
        return {
            take: (event) => {
                view.take(event);
                if (event.kind === "run_started") {
                    planned = event.results_file;
                } else if (event.kind === "ended") {
                    hasReportedEnd = event.conclusion?.words !== undefined;
                    // A run whose engine or server was killed cannot report its result file.
                    const results = event.results_file ?? planned;
                    if (results) {
                        this.staleness.recorded(suiteIdOf(started.id), results);
                    }
                    this.tree.showEnd(suiteIdOf(started.id), suiteDescription(target, event.conclusion?.words));
                }
            },
            end: (problem) => {
                view.end(problem);
                if (!hasReportedEnd && problem !== undefined) {
                    this.tree.showEnd(suiteIdOf(started.id), suiteDescription(target, reasonFirst(problem)));
                }
            },
        };
    }
}

function idsOf(items: readonly vscode.TestItem[] | undefined): string[] | undefined {
    return items?.map(({ id }) => id);
}

/** Returns the id of the item that shows a re-grade: a grader of the suite has no item for itself, only one below each task. */
function shownId(id: string): string {
    return id.includes("::::") ? suiteOf(id) : id;
}
