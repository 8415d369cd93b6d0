/**
 * The VS Code client of the Waza language server.
 *
 * Architecture invariant: the client knows nothing of suites except which files may belong to one. Validation, completion, lenses
 * and scores come from the server, so that other editors get the same. There is no telemetry.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { editorOfSuite } from "./activeSuite";
import { addAgents } from "./agentPackages";
import { ServerConnection } from "./client";
import { completeStep, ContextKeys } from "./contextKeys";
import { openPage } from "./documentation";
import { EnterRules } from "./enterRules";
import { createEnvironment, hideMissingServerMessages, MACHINE, offerPrivateEnvironment, reportMissingServer, selectInterpreter } from "./interpreterPrompts";
import { InterruptedRuns } from "./interruptedRuns";
import { recordedItemOf, titleOf } from "./itemIds";
import { LanguageStatus } from "./languageStatus";
import { Marks } from "./marks";
import { runMutationTesting } from "./mutationTesting";
import { openGrader } from "./openGrader";
import { PRIVATE, PrivateEnvironment } from "./privateEnvironment";
import { registerMcpServers, registerTasks } from "./programs";
import { ProviderKeys } from "./providerKeys";
import { onDidSelectEnvironment } from "./pythonExtension";
import type { FileLocation } from "./reasons";
import { registerRecordedFileDiffs } from "./recordedFileDiffs";
import { ResultPage } from "./resultPage";
import { reviewAnswers } from "./reviews";
import { itemIdOf, recordOf, RunComparisons } from "./runComparisons";
import { RunLog } from "./runLog";
import { runnableAt, runnablesIn } from "./runnables";
import { chooseExecutor, chooseRunOptions, logIn } from "./runOptionPrompts";
import { Runs } from "./runs";
import { invalidSetting, runEnvironment, runOptions } from "./runSettings";
import { RunStatusBar } from "./runStatus";
import { createGrader, createSuite, createTask, saveRecordAsTask } from "./scaffolding";
import { resolveServer } from "./serverResolution";
import { isSkillFile, looksLikeSuiteFile, NAMED_EVALS_GLOB, NAMED_PROMPTS_GLOB, SKILL_GLOB, SUITE_FILE_GLOB } from "./suiteFiles";
import { TestExplorer } from "./testing/explorer";
import { TrialDocuments } from "./trialDocuments";
import { openWorkspace } from "./trialWorkspaces";
import { isTrustedFor, RESULTS_NEED_TRUST, RUNS_NEED_TRUST } from "./trust";
import { silenceYamlExtension } from "./yamlCoexistence";

let connection: ServerConnection | undefined;
let interruptedRuns: InterruptedRuns | undefined;
/** Resolves when the extension has decided whether the workspace needs a server. */
let startDecision: Promise<void> = Promise.resolve();

export function activate(context: vscode.ExtensionContext): void {
    const log = vscode.window.createOutputChannel("Waza", { log: true });
    const status = new LanguageStatus();
    const runSettings = (suite?: string) => vscode.workspace.getConfiguration("waza.run", suite === undefined ? undefined : vscode.Uri.file(suite));
    const runs = new Runs(
        log,
        (suite) => runOptions((name) => runSettings(suite).get(name)),
        (suite, chosen) => invalidSetting((name) => runSettings(suite).get(name), chosen),
    );
    const keys = new ProviderKeys(context);
    // Python imports modules from the folder that it starts in: a folder of the workspace could run foreign code.
    const workingDirectory = context.extensionPath;
    const storage = context.globalStorageUri.fsPath;
    const environment = new PrivateEnvironment(storage, path.join(context.extensionPath, "bundled"), MACHINE, log);

    let wasReported = false;
    const resolve = async () => {
        const resolution = await resolveServer(environment, workingDirectory, log);
        const isSelected = resolution.setting === undefined && (resolution.server === undefined || resolution.server.interpreter.origin === PRIVATE);
        wasReported = false;
        if (!isSelected || !environment.isOutdated) {
            return resolution;
        }
        const fallbackNote = resolution.server === undefined ? "" : " Until then the older server is used.";
        if (await createEnvironment(environment, workingDirectory, log, fallbackNote)) {
            return resolveServer(environment, workingDirectory, log);
        }
        wasReported = true;
        return resolution;
    };
    const server = new ServerConnection(
        resolve,
        (resolution) => void reportMissingServer(resolution, environment, workingDirectory, status, wasReported, log),
        runs,
        status,
        log,
        workingDirectory,
        async () =>
            vscode.workspace.isTrusted ? { ...runEnvironment(runSettings().get("environment")), ...(await keys.environment()) } : {},
    );
    connection = server;
    const marks = new Marks(() => server.running);
    const contextKeys = new ContextKeys(
        () => server.running,
        (document, kind) => {
            status.showKind(document, kind);
        },
    );
    const restart = () => server.restart();
    const restartAfterRuns = async () => {
        await runs.whenIdle("Active runs keep their environment; later runs use the new one.");
        await restart();
    };
    const connect = async () => {
        await server.start();
        return server.running;
    };
    const runStatusBar = new RunStatusBar((requests) => void runs.runEach(() => server.running, requests));
    const storedRuns = new InterruptedRuns(context.workspaceState);
    interruptedRuns = storedRuns;
    void storedRuns.takeInterrupted().then((ids) => {
        ids.forEach((id) => {
            runStatusBar.showInterrupted(id);
            log.warn(`The run of ${id} was interrupted when its window was closed; its finished tasks were saved.`);
        });
    });
    const comparisons = new RunComparisons(() => server.running);
    const page = new ResultPage(() => server.running, connect, context.extensionUri, context.workspaceState);
    const tests = new TestExplorer(() => server.running, server.ensureRunning, runs, (title, id) => chooseRunOptions(context, title, id, server.running));

    const mcpServersMayChange = new vscode.EventEmitter<void>();
    const followPythonExtension = () =>
        void onDidSelectEnvironment(() => void runs.whenIdle().then(() => server.reconsider())).then((listener) => listener && context.subscriptions.push(listener));

    const command = (id: string, action: (...args: never[]) => unknown) => vscode.commands.registerCommand(`waza.${id}`, action);
    const suiteCommand = (id: string, action: (client: LanguageClient, suite: string) => Promise<unknown>) =>
        command(id, async () => {
            const [suite, client] = [await runnableToRun(server, "suite"), server.running];
            if (client !== undefined && suite !== undefined) {
                await action(client, suite);
            }
        });
    const resultCommand = (id: string, action: (client: LanguageClient, item: string) => Promise<unknown>) =>
        command(id, async (argument: unknown) => {
            const item = await recordedItem(server, argument);
            const client = item === undefined ? undefined : await server.ensureRunning();
            if (item !== undefined && client !== undefined) {
                await action(client, item);
            }
        });
    context.subscriptions.push(
        log,
        status,
        server,
        tests,
        runStatusBar,
        comparisons,
        page,
        runs.addView(({ id }) => page.view(id)),
        runs.regrades.onDidEnd((regraded) => {
            runStatusBar.showRegraded(regraded);
            page.refreshSoon();
            void completeStep.regraded();
        }),
        runs.addView(({ id }) => storedRuns.view(id)),
        runs.addView((request, batch) => runStatusBar.viewOf(request, batch)),
        runs.onDidEndBatch((batch) => {
            runStatusBar.showBatch(batch);
        }),
        runs.addView((request) => new RunLog(log, request)),
        server.onDidStart(() => void hideMissingServerMessages()),
        server.onDidStart(() => void tests.serverStarted()),
        server.onDidStart(() => {
            page.serverStarted();
        }),
        silenceYamlExtension(log),
        registerRecordedFileDiffs(() => server.running),
        new TrialDocuments(() => server.running, server.ensureRunning, server.onDidChangeMarks),
        marks,
        marks.onDidChangeFiles((files) => {
            tests.showRecorded(files);
        }),
        server.onDidGiveUp(() => {
            marks.clear();
        }),
        contextKeys,
        server.onDidChangeMarks((change) => {
            marks.refresh(change);
            if (change.files) {
                contextKeys.refresh();
                tests.scoresChanged();
                page.refreshSoon();
            }
        }),
        new EnterRules(isSuiteFile),
        registerTasks(async (startServer) => {
            if (startServer) {
                await server.ensureRunning();
            }
            return server.interpreter;
        }),
        mcpServersMayChange,
        server.onDidStart(() => {
            mcpServersMayChange.fire();
        }),
        registerMcpServers(() => server.interpreter, mcpServersMayChange.event, (context.extension.packageJSON as { version: string }).version),
        command("restartServer", restart),
        command("showLog", () => {
            log.show();
        }),
        command("cancelRun", () => {
            runs.cancelAll();
        }),
        command("runSuite", openFileFirst(() => run(server, runs, "suite", page.activeSuite))),
        command("runAtCursor", () => run(server, runs, "cursor")),
        suiteCommand("runAffectedTasks", (client, suite) => runs.runAffected(client, suite)),
        command("runWith", async (argument: unknown) => {
            await runWith(server, runs, context, itemIdOf(argument));
        }),
        command("createSuite", (argument: unknown) => createSuite(server.ensureRunning, argument instanceof vscode.Uri ? argument : undefined)),
        command("createTask", openFileFirst(() => createTask(server.ensureRunning, page.activeSuite))),
        command("createGrader", () => createGrader(server.ensureRunning)),
        command("setProviderKey", async (variable?: string) => {
            if ((await keys.askForKey(variable)) && server.isRequested) {
                await restartAfterRuns();
            }
        }),
        command("openResult", openFileFirst(async (argument: unknown) => {
            const id = await recordedItem(server, argument);
            if (id !== undefined) {
                await page.open(recordedItemOf(id)); // the page of a task includes its trials and graders
            }
        })),
        suiteCommand("measureStrength", runMutationTesting),
        resultCommand("reviewAnswers", (client, item) => reviewAnswers(client, item, (answer) => page.open(recordedItemOf(answer)))),
        resultCommand("compareResults", (client, item) => comparisons.compare(client, item)),
        resultCommand("openWorkspace", openWorkspace),
        command("openJudged", async ({ task, grader }: { readonly task: string; readonly grader: string }) => {
            const client = await server.ensureRunning();
            if (client !== undefined) {
                await openGrader(client, task, grader);
            }
        }),
        command("saveRecord", async (argument: unknown) => {
            const id = await recordedItem(server, argument);
            if (id !== undefined) {
                await saveRecordAsTask(server.ensureRunning, id, recordOf(argument));
            }
        }),
        command("addAgents", (packages: string) => {
            const interpreter = server.interpreter;
            return interpreter !== undefined && addAgents(environment, interpreter, packages, log);
        }),
        command("chooseExecutor", () => chooseExecutor(context)),
        command("logIn", logIn),
        command("openPage", openPage),
        command("openFile", ({ file, line = 1 }: FileLocation) =>
            vscode.window.showTextDocument(vscode.Uri.file(file), { selection: new vscode.Range(line - 1, 0, line - 1, 0) }),
        ),
        command("selectInterpreter", () => selectInterpreter(environment, workingDirectory)),
        command("createEnvironment", async () => {
            if (await createEnvironment(environment, workingDirectory, log)) {
                await restart();
                await offerPrivateEnvironment();
            }
        }),
        vscode.workspace.onDidChangeConfiguration((change) => {
            const restarts = ["waza.interpreter", "waza.run.environment"];
            if (restarts.some((name) => change.affectsConfiguration(name)) && server.isRequested) {
                void restartAfterRuns();
            } else {
                void server.sendChangedSettings(change);
            }
        }),
        vscode.workspace.onDidChangeWorkspaceFolders(() => {
            mcpServersMayChange.fire();
            void server.sendFolderSettings();
        }),
        vscode.window.onDidChangeWindowState(({ focused }) => {
            if (focused && server.isMissing) {
                void server.reconsider(); // the user may have installed it in a terminal
            }
        }),
        vscode.workspace.onDidGrantWorkspaceTrust(() => {
            followPythonExtension();
            if (server.isRequested) {
                void restart();
            }
        }),
    );
    followPythonExtension();

    startDecision = startWithFirstSuiteFile(context, server);
}

export async function deactivate(): Promise<void> {
    interruptedRuns?.close();
    await connection?.shutDown();
}

/** Starts the server for the first suite or skill: any YAML file activates the extension, and most need neither a server nor a Python. */
async function startWithFirstSuiteFile(context: vscode.ExtensionContext, server: ServerConnection): Promise<void> {
    const startFor = (document: vscode.TextDocument) => {
        if (!server.isRequested && (isSuiteFile(document) || isSkillFile(document.uri.fsPath))) {
            void server.start();
        }
    };
    const startForWorkspace = async () => {
        if (!server.isRequested && (await workspaceHasSuite())) {
            void server.start();
        }
    };
    context.subscriptions.push(
        vscode.workspace.onDidOpenTextDocument(startFor),
        vscode.workspace.onDidChangeTextDocument((change) => {
            startFor(change.document);
        }),
    );
    vscode.workspace.textDocuments.forEach(startFor);
    await startForWorkspace();
}

function isSuiteFile(document: vscode.TextDocument): boolean {
    return ["yaml", "json", "jsonl"].includes(document.languageId) && looksLikeSuiteFile(document.uri.fsPath, document.getText());
}

/** Returns whether the workspace has a suite or a skill. Other tools name files `eval.yaml` too, so their text is read. */
async function workspaceHasSuite(): Promise<boolean> {
    if ((await vscode.workspace.findFiles(SKILL_GLOB, "**/node_modules/**", 1)).length > 0) {
        return true;
    }
    const files = [SUITE_FILE_GLOB, NAMED_EVALS_GLOB, NAMED_PROMPTS_GLOB].map((glob) => vscode.workspace.findFiles(glob, "**/node_modules/**", 20));
    for (const file of (await Promise.all(files)).flat()) {
        const text = Buffer.from(await vscode.workspace.fs.readFile(file)).toString("utf8");
        if (looksLikeSuiteFile(file.fsPath, text)) {
            return true;
        }
    }
    return false;
}

/** Returns the id of the suite of the active file, or of the item at its cursor; undefined after a message if there is none. */
async function runnableInEditor(server: ServerConnection, what: "suite" | "cursor", noneMessage: string, shownSuite?: string): Promise<string | undefined> {
    await startDecision;
    if (!server.isRequested && shownSuite === undefined && vscode.window.activeTextEditor !== undefined) {
        void vscode.window.showInformationMessage(noneMessage); // a shortcut was pressed in a file of another kind
        return undefined;
    }
    const client = await server.ensureRunning(); // a command may come before the server is up
    const editor = client === undefined ? undefined : await editorOfSuite(client, shownSuite);
    if (client === undefined || editor === undefined) {
        return undefined; // there is no server, or the user has chosen no suite
    }
    const id = runnableAt(await runnablesIn(client, editor.document), what, editor.selection.active.line);
    if (id === undefined) {
        void vscode.window.showInformationMessage(noneMessage);
    }
    return id;
}

/** Returns the id of the item to run in the active file; undefined after a message if there is none. */
function runnableToRun(server: ServerConnection, what: "suite" | "cursor", shownSuite?: string): Promise<string | undefined> {
    return runnableInEditor(server, what, "There is nothing to run in this file.", shownSuite);
}

/** Returns the id in the argument of a command about results, else of the item at the cursor; undefined after a message. */
async function recordedItem(server: ServerConnection, argument: unknown): Promise<string | undefined> {
    if (!isTrustedFor(RESULTS_NEED_TRUST)) {
        return undefined;
    }
    return itemIdOf(argument) ?? (await runnableInEditor(server, "cursor", "Open a suite file first: results belong to suites and tasks."));
}

/** Opens the file that the Explorer passes to a command before the action runs. */
function openFileFirst(action: (argument: unknown) => unknown): (argument: unknown) => Promise<unknown> {
    return async (argument) => {
        if (argument instanceof vscode.Uri && argument.toString() !== vscode.window.activeTextEditor?.document.uri.toString()) {
            await vscode.window.showTextDocument(argument);
        }
        return action(argument);
    };
}

/** Runs the suite of the active file, or the item at its cursor. A result page in front counts as its eval file, `shown`. */
async function run(server: ServerConnection, runs: Runs, what: "suite" | "cursor", shownSuite?: string): Promise<void> {
    const [id, client] = [await runnableToRun(server, what, shownSuite), server.running];
    if (client !== undefined && id !== undefined) {
        await runs.run(client, { id });
    }
}

/** Asks for the options of a run and starts it, for the item that a lens passes or the item at the cursor. */
async function runWith(server: ServerConnection, runs: Runs, context: vscode.ExtensionContext, argument: string | undefined): Promise<void> {
    if (!isTrustedFor(RUNS_NEED_TRUST)) {
        return;
    }
    const [id, client] = [argument ?? (await runnableToRun(server, "cursor")), server.running];
    const options = client === undefined || id === undefined ? undefined : await chooseRunOptions(context, titleOf(id), id, client);
    if (client !== undefined && id !== undefined && options !== undefined) {
        await runs.run(client, { id, options });
    }
}
