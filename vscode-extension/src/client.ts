/**
 * The connection of this window to the language server: starts, restarts and stops it.
 *
 * Several restarts may be requested at once (a setting, trust, a button), so they are serialised, and requests during a pending
 * restart share it. The server gets every YAML document and decides by name and content which ones it diagnoses.
 */

import * as vscode from "vscode";
import {
    DidChangeConfigurationNotification,
    DocumentOnTypeFormattingRequest,
    LanguageClient,
    RevealOutputChannelOn,
    State,
    type Executable,
    type LanguageClientOptions,
} from "vscode-languageclient/node";
import { diagnosticsMiddleware, linkPagesInHover, nameSettingsInHint, OPEN_PAGE } from "./documentation";
import { FileOperationEdits } from "./fileOperationEdits";
import type { FoundServer, Interpreter } from "./interpreters";
import type { LanguageStatus } from "./languageStatus";
import { registerLensCommands, waitingForServer } from "./lensCommands";
import { confirm, plain } from "./messages";
import { environmentOfPrograms, GuardedClient } from "./programs";
import { SHOW_CHANGE } from "./recordedFileDiffs";
import { GIVEN_UP, Restarts } from "./restartPolicy";
import type { Runs } from "./runs";
import { createFiles, type NewFiles } from "./scaffolding";
import type { Resolution } from "./serverResolution";
import { changedSettings, folderSettings, serverSettings } from "./serverSettings";
import { EVALS_GLOB, HARNESS_GLOB, SKILL_GLOB } from "./suiteFiles";
import { TraceChannel } from "./traceChannel";
import { OPEN_TRIAL } from "./trialDocuments";
import { VisibleLenses } from "./visibleLenses";
import { outlinesYaml } from "./yamlCoexistence";

const RESTART = "waza.restartServer";
const RESTART_TITLE = "Restart Server";
const YAML = ["file", "untitled"].map((scheme) => ({ scheme, language: "yaml" }));

export class ServerConnection implements vscode.Disposable {
    private client: LanguageClient | undefined;
    private server: FoundServer | undefined;
    private queue: Promise<void> = Promise.resolve();
    private waiting: Promise<void> | undefined;
    private mustRestart = false;
    private requested = false;
    private readonly traceChannel = new TraceChannel();
    private readonly visibleLenses = new VisibleLenses(() => this.running);
    private readonly lensCommands = registerLensCommands(() => this.ensureRunning());
    private readonly fileOperationEdits = new FileOperationEdits();
    private readonly marksChanged = new vscode.EventEmitter<{ readonly files: boolean }>();
    /** Fires when the server is up and when scores have changed; `files` is false if only the marks of lines have. */
    readonly onDidChangeMarks = this.marksChanged.event;
    private readonly started = new vscode.EventEmitter<void>();
    /** Fires whenever a server is up. */
    readonly onDidStart = this.started.event;
    private readonly gaveUp = new vscode.EventEmitter<void>();
    /** Fires when the server keeps stopping and is not restarted any more, and when no Python has it. */
    readonly onDidGiveUp = this.gaveUp.event;

    /**
     * @param resolve returns the interpreter; called at every start
     * @param onMissing called if no interpreter has the server
     * @param environment returns variables for the server and its runs, in addition to those of this process; called at every start
     */
    constructor(
        private readonly resolve: () => Promise<Resolution>,
        private readonly onMissing: (resolution: Resolution) => void,
        private readonly runs: Runs,
        private readonly status: LanguageStatus,
        private readonly log: vscode.LogOutputChannel,
        private readonly workingDirectory: string,
        private readonly environment: () => Promise<Record<string, string>>,
    ) {}

    /** The Python that runs the server and suites. */
    get interpreter(): Interpreter | undefined {
        return this.server?.interpreter;
    }

    /** The client, while the server is up. */
    get running(): LanguageClient | undefined {
        return this.client?.state === State.Running ? this.client : undefined;
    }

    /** True after the first request to start. */
    get isRequested(): boolean {
        return this.requested;
    }

    /** True if a start was requested and no Python had the server. */
    get isMissing(): boolean {
        return this.requested && this.server === undefined && this.waiting === undefined;
    }

    /** Starts the server unless that was requested already; resolves when it is up or cannot be started. */
    async start(): Promise<void> {
        await (this.requested ? this.queue : this.restart());
    }

    /** Starts the server unless it is up, and returns its client; undefined, after a message, if it cannot be started. */
    readonly ensureRunning = async (): Promise<LanguageClient | undefined> => {
        const isFirst = !this.requested;
        await this.start();
        if (this.client?.state === State.Starting) {
            await this.client.start().catch(() => undefined); // it has stopped and is being restarted
        }
        if (this.running === undefined && this.server === undefined && !isFirst) {
            await this.restart(); // a Python may have been installed since; if not, this shows the reason again
        } else if (this.running === undefined && this.server !== undefined) {
            void this.offerRestart("The Waza language server is not running.");
        }
        return this.running;
    };

    /** Starts the server, or stops and starts it again. */
    restart(): Promise<void> {
        this.requested = true;
        this.mustRestart = true;
        return this.reconsider();
    }

    /** Resolves the interpreter again, and restarts the server if it is another one. */
    reconsider(): Promise<void> {
        if (!this.requested) {
            return Promise.resolve();
        }
        this.waiting ??= this.enqueue(async () => {
            const isForced = this.mustRestart;
            this.waiting = undefined;
            this.mustRestart = false;
            const resolution = await this.resolve();
            if (isForced || resolution.server?.interpreter.command !== this.server?.interpreter.command) {
                this.runs.cancelAll();
                await this.stop();
                await this.launch(resolution);
            }
        });
        return this.waiting;
    }

    /** Sends the changed settings, except those that need a restart. */
    async sendChangedSettings(change: vscode.ConfigurationChangeEvent): Promise<void> {
        const waza = changedSettings(change);
        if (Object.keys(waza).length > 0) {
            await this.sendSettings(waza);
        }
    }

    /** Sends the settings of the open folders. */
    sendFolderSettings(): Promise<void> {
        return this.sendSettings(folderSettings());
    }

    /** Stops the server and its active runs for good. */
    shutDown(): Promise<void> {
        return this.enqueue(() => this.stop());
    }

    dispose(): void {
        this.traceChannel.dispose();
        this.visibleLenses.dispose();
        this.lensCommands.dispose();
        this.fileOperationEdits.dispose();
        this.marksChanged.dispose();
        this.started.dispose();
        this.gaveUp.dispose();
    }

    private async sendSettings(waza: Record<string, unknown>): Promise<void> {
        await this.running?.sendNotification(DidChangeConfigurationNotification.type, { settings: { waza } });
    }

    private enqueue(step: () => Promise<void>): Promise<void> {
        this.queue = this.queue.then(step).catch((error: unknown) => {
            this.log.error(`The language server was not started: ${String(error)}`);
            this.status.showFailure("the language server was not started; see the log");
        });
        return this.queue;
    }

    private async launch(resolution: Resolution): Promise<void> {
        const server = resolution.server;
        this.server = server;
        if (server === undefined) {
            this.status.showFailure("no Python with the language server");
            this.gaveUp.fire();
            this.onMissing(resolution);
            return;
        }
        this.status.showStarting();
        const client = this.createClient(server, await this.environment());
        this.client = client;
        client.onNotification("waza/marksChanged", ({ files = true }: { readonly files?: boolean }) => {
            this.marksChanged.fire({ files });
        });
        this.runs.listen(client);
        client.onRequest("waza/confirm", confirm);
        client.onRequest("waza/createFiles", (files: NewFiles) => createFiles(client, files));
        client.onDidChangeState((change) => {
            if (this.client !== client) {
                return; // this extension stops it
            }
            if (change.newState === State.Running) {
                this.status.showRunning(server);
                this.marksChanged.fire({ files: true });
                this.started.fire();
            } else if (change.newState === State.Stopped) {
                this.status.showFailure("the language server stopped", RESTART, RESTART_TITLE);
            }
        });
        try {
            await client.start();
        } catch (error) {
            this.log.error(`The language server did not start: ${String(error)}`);
            this.status.showFailure("the language server did not start; see the log");
            void this.offerLog("The Waza language server did not start.");
        }
    }

    private async stop(): Promise<void> {
        const client = this.client;
        this.client = undefined;
        try {
            await client?.dispose(5_000);
        } catch (error) {
            this.log.warn(`The language server did not shut down cleanly: ${String(error)}`);
        }
    }

    private createClient(server: FoundServer, environment: Record<string, string>): LanguageClient {
        const { command, args } = server.interpreter;
        const executable = {
            command,
            args: [...args, "-m", "waza_language_server", "--stdio"],
            options: { cwd: this.workingDirectory, env: { ...environmentOfPrograms(), ...environment } },
        };
        const options: LanguageClientOptions = {
            documentSelector: [...YAML, ...[SKILL_GLOB, EVALS_GLOB, HARNESS_GLOB].map((pattern) => ({ scheme: "file", pattern }))],
            initializationOptions: {
                interpreter: command,
                trusted: vscode.workspace.isTrusted,
                suggestCommand: "editor.action.triggerSuggest",
                showsChanges: true,
                opensTrials: true,
                drawsMarks: true,
                confirms: true,
                createsFiles: true,
                reportsJsonSyntax: true,
                runWithCommand: "waza.runWith",
                runEvents: true,
                ...serverSettings(),
            },
            markdown: { isTrusted: { enabledCommands: [SHOW_CHANGE, OPEN_TRIAL, OPEN_PAGE] } },
            outputChannel: this.log,
            traceOutputChannel: this.traceChannel,
            revealOutputChannelOn: RevealOutputChannelOn.Never,
            errorHandler: new Restarts(() => {
                this.gaveUp.fire();
                void this.offerRestart(GIVEN_UP);
            }),
            middleware: {
                ...diagnosticsMiddleware,
                workspace: this.fileOperationEdits.middleware,
                executeCommand: this.runs.middleware(() => this.running),
                provideHover: async (document, position, token, next) => linkPagesInHover(await next(document, position, token)),
                provideInlayHints: async (document, range, token, next) => (await next(document, range, token))?.map(nameSettingsInHint),
                resolveInlayHint: async (hint, token, next) => nameSettingsInHint((await next(hint, token)) ?? hint),
                provideCodeLenses: async (document, token, next) => (await this.visibleLenses.provide(document, token, next)).map(waitingForServer),
                provideDocumentSymbols: (document, token, next) => (hasOtherOutline(document) ? undefined : next(document, token)),
            },
        };
        const client = new QuietClient("waza", "Waza", executable, options, () => {
            if (this.client === client) {
                void this.restart(); // its Python may be gone: find another one, or report why there is none
            }
        });
        return limitOnTypeFormattingToYaml(client);
    }

    /** Shows a message with a button that restarts the server. */
    private async offerRestart(message: string): Promise<void> {
        const chosen = await vscode.window.showErrorMessage(message, RESTART_TITLE, "Show Log");
        if (chosen === RESTART_TITLE) {
            await this.restart();
        } else if (chosen !== undefined) {
            this.log.show();
        }
    }

    private async offerLog(message: string): Promise<void> {
        if ((await vscode.window.showErrorMessage(plain(message), "Show Log")) !== undefined) {
            this.log.show();
        }
    }
}

/** Returns whether another extension shows the outline of a document, as VS Code does for JSON. */
function hasOtherOutline(document: vscode.TextDocument): boolean {
    return document.languageId === "json" || outlinesYaml();
}

/** A client whose caller reports failed starts: its own messages about them go to the log only. */
class QuietClient extends GuardedClient {
    private isReportedByCaller = false;
    private wasUp = false;

    /** @param onLost called when a server that was up has stopped and cannot be restarted */
    constructor(
        id: string,
        name: string,
        executable: Executable,
        options: LanguageClientOptions,
        private readonly onLost: () => void,
    ) {
        super(id, name, executable, options);
    }

    override async start(): Promise<void> {
        this.isReportedByCaller = true; // stays true after a failure, because later messages are about the same
        try {
            await super.start();
            this.isReportedByCaller = false;
            this.wasUp = true;
        } catch (error) {
            if (this.wasUp) {
                this.wasUp = false;
                this.onLost();
            }
            throw error;
        }
    }

    override error(...[message, data, showNotification]: Parameters<LanguageClient["error"]>): void {
        super.error(message, data, this.isReportedByCaller ? false : showNotification);
    }
}

/** Limits formatting on Enter to YAML: other extensions format Markdown. */
function limitOnTypeFormattingToYaml<Client extends LanguageClient>(client: Client): Client {
    const feature = client.getFeature(DocumentOnTypeFormattingRequest.method);
    const initialize = feature.initialize.bind(feature);
    feature.initialize = (capabilities) => {
        initialize(capabilities, YAML);
    };
    return client;
}
