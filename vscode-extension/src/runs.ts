/**
 * Starts runs from lenses and commands: saves files, then shows a notification with progress and a Cancel button.
 *
 * This module sends the request instead of the language client, which shows progress that a server starts only in the status bar,
 * without a Cancel button.
 */

import * as vscode from "vscode";
import {
    ErrorCodes,
    ExecuteCommandRequest,
    ResponseError,
    WorkDoneProgress,
    type ExecuteCommandSignature,
    type LanguageClient,
} from "vscode-languageclient/node";
import { suiteOf } from "./itemIds";
import { errorMessage, plain, sentence } from "./messages";
import { reasonFirst } from "./reasons";
import { REGRADE_COMMAND, Regrades } from "./regrades";
import { remediesFor } from "./remedies";
import { showRequestError } from "./requestErrors";
import { RunBatch } from "./runBatch";
import { RUN_EVENT, type RunEvent, type RunEventParams } from "./runEvents";
import { INTERRUPTED } from "./runProgress";
import type { InvalidSetting, RunOptions } from "./runSettings";
import { titleInWorkspace } from "./runTitles";
import type { RunView, RunViewFactory } from "./runViews";
import { plannedRuns } from "./testing/plan";
import { DRAFTS_NEED_TRUST, GRADERS_NEED_TRUST, isTrustedFor, RUNS_NEED_TRUST } from "./trust";
import { saveBeforeRun } from "./unsavedFiles";

export const RUN_COMMAND = "waza.run";
const NEW_SUITE_COMMAND = "waza.newSuite";
const ADD_AGENTS = "waza.addAgents";
const REVIEW_COMMAND = "waza.review";
const AFFECTED_COMMAND = "waza.runAffected";

/** The argument of `waza.run`: an id, and perhaps a selection of the tasks and prompts of a suite. */
export interface RunRequest {
    readonly id: string;
    readonly tasks?: readonly string[];
    /** The texts of the selected trigger prompts. */
    readonly prompts?: readonly string[];
    /** The options of this run that differ from the settings. */
    readonly options?: RunOptions;
}

/** The answer of `waza/affected`: the ids of the tasks that changed since their newest results, or that of the suite if all have. */
interface AffectedAnswer {
    readonly items: readonly string[];
    readonly of: number;
}

/** The answer of `waza.run`. */
interface RunAnswer {
    readonly status: "completed" | "failed" | "canceled" | "error";
    readonly resultsFile: string | null;
    readonly message: string | null;
}

const NO_REASON = "The engine gave no reason.";
/** The errors of requests whose server has stopped. */
const CONNECTION_LOST: ReadonlySet<number> = new Set([ErrorCodes.PendingResponseRejected, ErrorCodes.ConnectionInactive]);

export class Runs {
    private readonly active = new Set<vscode.CancellationTokenSource>();
    private readonly factories = new Set<RunViewFactory>();
    /** The views of each active run, by its progress token: two runs may have the same id. */
    private readonly views = new Map<string, readonly RunView[]>();
    /** The last events of runs whose request is not answered yet, by the same token. */
    private readonly ends = new Map<string, RunEvent>();
    /** The active requests as JSON, to reject a second identical one. */
    private readonly activeKeys = new Set<string>();
    readonly regrades = new Regrades();
    private readonly batchEnded = new vscode.EventEmitter<RunBatch>();
    /** Fires when the last run of a batch has ended. */
    readonly onDidEndBatch = this.batchEnded.event;
    private readonly becameIdle = new vscode.EventEmitter<void>();
    private regradeView: ((id: string) => RunView) | undefined;

    /**
     * @param settings returns the run settings of the folder of a suite
     * @param invalid returns an invalid setting of that folder, unless this run overrides it
     */
    constructor(
        private readonly log: vscode.LogOutputChannel,
        private readonly settings: (suite: string) => RunOptions,
        private readonly invalid: (suite: string, chosen?: RunOptions) => InvalidSetting | undefined,
    ) {}

    /** Returns the middleware for the commands of the server: handles those that run, re-grade or review here, and passes on the others. */
    middleware(client: () => LanguageClient | undefined) {
        return (command: string, args: unknown[], next: ExecuteCommandSignature): vscode.ProviderResult<unknown> => {
            const running = client();
            const request = args[0];
            if (command === REGRADE_COMMAND && running !== undefined && isRunRequest(request) && this.regradeView !== undefined) {
                // The view shows immediately that the earlier results are stale.
                return isTrustedFor(GRADERS_NEED_TRUST) ? this.regrades.regrade(running, request.id, this.regradeView(request.id)) : undefined;
            }
            if (command === AFFECTED_COMMAND && running !== undefined && isRunRequest(request)) {
                return this.runAffected(running, request.id);
            }
            if (command === REVIEW_COMMAND && isRunRequest(request)) {
                return vscode.commands.executeCommand("waza.reviewAnswers", request);
            }
            if (command === NEW_SUITE_COMMAND) {
                return isTrustedFor(DRAFTS_NEED_TRUST) ? Promise.resolve(next(command, args)).catch(showRequestError) : undefined;
            }
            if (command !== RUN_COMMAND || running === undefined || !isRunRequest(request)) {
                return next(command, args) as vscode.ProviderResult<unknown>;
            }
            return this.run(running, request);
        };
    }

    /** Adds a view for each run that begins from now on. */
    addView(factory: RunViewFactory): vscode.Disposable {
        this.factories.add(factory);
        return new vscode.Disposable(() => this.factories.delete(factory));
    }

    /** Sets the view for re-grades that a lens starts. */
    setRegradeView(factory: (id: string) => RunView): void {
        this.regradeView = factory;
    }

    /** Passes the run events of a server to the views. */
    listen(client: LanguageClient): vscode.Disposable {
        return client.onNotification(RUN_EVENT, ({ id, token, event }: RunEventParams) => {
            if (event.regraded === true) {
                this.regrades.take(id, event);
                return;
            }
            const views = this.views.get(String(token)) ?? [];
            if (event.kind === "ended" && views.length > 0) {
                this.ends.set(String(token), event);
            }
            for (const view of views) {
                view.take(event);
            }
        });
    }

    /**
     * Runs an item and returns the answer of the server; undefined if the run was rejected, failed or was cancelled.
     *
     * @param token cancels the run, in addition to the button of its notification
     * @param batch the batch of runs that this one belongs to
     */
    async run(client: LanguageClient, request: RunRequest, token?: vscode.CancellationToken, batch?: RunBatch): Promise<unknown> {
        if (!(await isReadyToRun(request.id))) {
            return undefined;
        }
        const invalid = this.invalid(suiteOf(request.id), request.options);
        if (invalid !== undefined) {
            void offerSetting(invalid);
            return undefined;
        }
        const withSettings = { ...request, options: { ...this.settings(suiteOf(request.id)), ...request.options } };
        const key = JSON.stringify(withSettings);
        if (this.activeKeys.has(key)) {
            void vscode.window.showInformationMessage(plain(`${titleInWorkspace(request.id)} is already running with the same options.`));
            return undefined;
        }
        this.activeKeys.add(key);
        const options = { location: vscode.ProgressLocation.Notification, title: plain(`Waza: ${titleInWorkspace(request.id)}`), cancellable: true };
        try {
            return await vscode.window.withProgress(options, (progress, stop) =>
                this.request(client, withSettings, progress, token === undefined ? [stop] : [stop, token], batch),
            );
        } finally {
            this.activeKeys.delete(key);
        }
    }

    /** Runs items one after the other; stops after one without an answer, such as a cancelled one. */
    async runEach(client: () => LanguageClient | undefined, requests: readonly RunRequest[]): Promise<void> {
        await this.asBatch(requests.length, async (batch) => {
            for (const request of requests) {
                const running = client();
                if (running === undefined || (await this.run(running, request, undefined, batch)) === undefined) {
                    return;
                }
            }
        });
    }

    /** Reports the results of several runs once, after `action`, which passes its argument to each run. */
    async asBatch(count: number, action: (batch: RunBatch | undefined) => Promise<void>): Promise<void> {
        const batch = count > 1 ? new RunBatch(count) : undefined;
        try {
            await action(batch);
        } finally {
            if (batch !== undefined) {
                this.batchEnded.fire(batch);
            }
        }
    }

    /** Requests the ids of the items of a suite that changed since their newest results; undefined after a message about an error. */
    async affected(client: LanguageClient, suite: string): Promise<readonly string[] | undefined> {
        try {
            return (await client.sendRequest<AffectedAnswer>("waza/affected", { id: suite })).items;
        } catch (error) {
            void showRequestError(error);
            return undefined;
        }
    }

    /** Runs the tasks of a suite that changed since their newest results; shows a message if there are none. */
    async runAffected(client: LanguageClient, suite: string): Promise<unknown> {
        if (!(await isReadyToRun(suite))) {
            return undefined;
        }
        const [planned] = plannedRuns((await this.affected(client, suite)) ?? []);
        if (planned === undefined) {
            void vscode.window.showInformationMessage(plain(`Waza: no task of ${titleInWorkspace(suite)} has changed since its newest result.`));
            return undefined;
        }
        return this.run(client, planned);
    }

    /** Resolves when no run is active in this window; shows `message` if it has to wait. */
    async whenIdle(message?: string): Promise<void> {
        if (this.active.size === 0) {
            return;
        }
        if (message !== undefined) {
            void vscode.window.showInformationMessage(message);
        }
        await new Promise<void>((resolve) => {
            const listener = this.becameIdle.event(() => {
                listener.dispose();
                resolve();
            });
        });
    }

    /** Cancels every run of this window. */
    cancelAll(): void {
        for (const source of this.active) {
            source.cancel();
        }
    }

    private async request(
        client: LanguageClient,
        request: RunRequest,
        progress: vscode.Progress<{ message?: string; increment?: number }>,
        stops: readonly vscode.CancellationToken[],
        batch: RunBatch | undefined,
    ): Promise<unknown> {
        const source = new vscode.CancellationTokenSource();
        const stopping = stops.map((stop) =>
            stop.onCancellationRequested(() => {
                source.cancel();
            }),
        );
        const workDoneToken = `waza-run-${crypto.randomUUID()}`;
        const reports = client.onProgress(WorkDoneProgress.type, workDoneToken, progressReporter(progress));
        this.track(source);
        const views = [...this.factories].map((factory) => factory(request, batch));
        this.views.set(workDoneToken, views);
        let problem: string | undefined;
        try {
            const parameters = { command: RUN_COMMAND, arguments: [{ ...request, workDoneToken }], workDoneToken };
            const answer = (await client.sendRequest(ExecuteCommandRequest.type, parameters, source.token)) as RunAnswer;
            problem = answer.status === "error" ? (answer.message ?? NO_REASON) : undefined;
            return answer;
        } catch (error) {
            const found = this.problemOf(error, views, this.ends.get(workDoneToken));
            problem = source.token.isCancellationRequested ? undefined : found;
            return undefined;
        } finally {
            this.untrack(source);
            reports.dispose();
            stopping.forEach((listener) => listener.dispose() as unknown);
            this.views.delete(workDoneToken);
            this.ends.delete(workDoneToken);
            views.forEach((view) => {
                view.end(problem);
            });
            if (problem !== undefined && !views.some(({ hasReported }) => hasReported === true)) {
                void this.reportFailure(problem, () => this.run(client, request));
            }
        }
    }

    /** Returns why a run has no answer. If its server has stopped, the views get a last event unless they had one. */
    private problemOf(error: unknown, views: readonly RunView[], end: RunEvent | undefined): string | undefined {
        if (error instanceof ResponseError && CONNECTION_LOST.has(error.code)) {
            if (end !== undefined) {
                return end.status === "error" ? (end.message ?? NO_REASON) : undefined;
            }
            views.forEach((view) => {
                view.take(INTERRUPTED);
            });
            return "The language server stopped during the run; finished tasks were saved.";
        }
        return errorMessage(error);
    }

    /** Shows why a run did not start or finish, with remedies; calls `again` after the missing packages were installed. */
    private async reportFailure(reason: string, again: () => Promise<unknown>): Promise<void> {
        const remedies = remediesFor(reason);
        const titles = [...remedies.map(({ title }) => title), "Show Log"];
        const chosen = await vscode.window.showErrorMessage(sentence(reasonFirst(reason)), ...titles);
        const remedy = remedies.find(({ title }) => title === chosen);
        if (remedy !== undefined) {
            const isFixed = await vscode.commands.executeCommand(remedy.command, ...(remedy.argument === undefined ? [] : [remedy.argument]));
            if (remedy.command === ADD_AGENTS && isFixed === true) {
                await again();
            }
        } else if (chosen !== undefined) {
            this.log.show();
        }
    }

    private track(source: vscode.CancellationTokenSource): void {
        this.active.add(source);
        void vscode.commands.executeCommand("setContext", "waza:running", true);
    }

    private untrack(source: vscode.CancellationTokenSource): void {
        this.active.delete(source);
        source.dispose();
        void vscode.commands.executeCommand("setContext", "waza:running", this.active.size > 0);
        if (this.active.size === 0) {
            this.becameIdle.fire();
        }
    }
}

/** Returns whether the workspace is trusted and the files of the suite of an item are saved; if not, shows a message. */
async function isReadyToRun(id: string): Promise<boolean> {
    if (!isTrustedFor(RUNS_NEED_TRUST)) {
        return false;
    }
    const isSaved = await saveBeforeRun(suiteOf(id));
    if (!isSaved) {
        void vscode.window.showWarningMessage("The run was not started: a file of the suite could not be saved.");
    }
    return isSaved;
}

/** Shows an invalid setting, with a button that opens it. */
async function offerSetting({ name, words }: InvalidSetting): Promise<void> {
    const open = "Open Settings";
    if ((await vscode.window.showErrorMessage(plain(words), open)) === open) {
        await vscode.commands.executeCommand("workbench.action.openSettings", name);
    }
}

function isRunRequest(value: unknown): value is RunRequest {
    return typeof value === "object" && value !== null && typeof (value as { id?: unknown }).id === "string";
}

/** Converts the absolute percentages of the server to the increments of VS Code. */
function progressReporter(progress: vscode.Progress<{ message?: string; increment?: number }>) {
    let reached = 0;
    return (report: { kind: string; message?: string; percentage?: number }): void => {
        const increment = report.percentage === undefined ? 0 : Math.max(0, report.percentage - reached);
        reached += increment;
        progress.report({ increment, ...(report.message === undefined ? {} : { message: report.message }) });
    };
}
