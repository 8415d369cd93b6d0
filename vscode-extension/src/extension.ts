/**
 * The editor's end of the Waza language server.
 *
 * Architecture invariant: no knowledge of suites here beyond which files may be one; validation, completion, lenses and
 * scores come from the server, so that other editors get the same. No telemetry.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import { editorOfSuite } from "./activeSuite";
import { addAgents } from "./agentPackages";
import { registerRecordedFileDiffs } from "./recordedFileDiffs";
import { ServerConnection } from "./client";
import { ContextKeys, completeStep } from "./contextKeys";
import { openPage } from "./documentation";
import { EnterRules } from "./enterRules";
import { createEnvironment, MACHINE, offerPrivateEnvironment, reportMissingServer, selectInterpreter, hideMissingServerMessages } from "./interpreterPrompts";
import { createGrader, createSuite, createTask, saveRecordAsTask } from "./scaffolding";
import { Marks } from "./marks";
import { InterruptedRuns } from "./interruptedRuns";
import { PRIVATE, PrivateEnvironment } from "./privateEnvironment";
import { registerMcpServers, registerTasks } from "./programs";
import { ProviderKeys } from "./providerKeys";
import { onDidSelectEnvironment } from "./pythonExtension";
import { runnableAt, runnablesIn, titleOf } from "./runnables";
import { itemIdOf, recordOf, recordedItemOf, RunComparisons } from "./runComparisons";
import { ResultPage } from "./resultPage";
import { reviewAnswers } from "./reviews";
import { RunLog } from "./runLog";
import { chooseExecutor, chooseRunOptions, logIn } from "./runOptionPrompts";
import { runEnvironment, runOptions, invalidSetting } from "./runSettings";
import { openGrader } from "./openGrader";
import { Runs } from "./runs";
import { RunStatusBar } from "./runStatus";
import type { FileLocation } from "./runProgress";
import { resolveServer } from "./serverResolution";
import { TrialDocuments } from "./trialDocuments";
import { openWorkspace } from "./trialWorkspaces";
import { LanguageStatus } from "./languageStatus";
import { runMutationTesting } from "./mutationTesting";
import { isTrustedFor, RESULTS_NEED_TRUST, RUNS_NEED_TRUST } from "./trust";
import { TestExplorer } from "./testing/explorer";
import { isSkillFile, looksLikeSuiteFile, NAMED_EVALS_GLOB, NAMED_PROMPTS_GLOB, SKILL_GLOB, SUITE_FILE_GLOB } from "./suiteFiles";
import { silenceYamlExtension } from "./yamlCoexistence";

let connection: ServerConnection | undefined;
let openRuns: InterruptedRuns | undefined;
/** Resolves when it is known whether the workspace needs a server. */
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
    // Python imports from the folder it starts in, so that must be one of ours and not the workspace.
    const workingDirectory = context.extensionPath;
    const storage = context.globalStorageUri.fsPath;
    const environment = new PrivateEnvironment(storage, path.join(context.extensionPath, "bundled"), MACHINE, log);

    let wasReported = false;
    const resolve = async () => {
        const resolution = await resolveServer(environment, workingDirectory, log);
        const isItsTurn = resolution.setting === undefined && (resolution.server === undefined || resolution.server.interpreter.origin === PRIVATE);
        wasReported = false;
        if (!isItsTurn || !environment.isOutdated) {
            return resolution;
        }
        const fallbackNote = resolution.server === undefined ? "" : ` Until then the older server is used.`;
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
    const interruptedRunIds = new InterruptedRuns(context.workspaceState);
    openRuns = interruptedRunIds;
    void interruptedRunIds.takeInterrupted().then((ids) => {
        ids.forEach((id) => {
            runStatusBar.showInterrupted(id);
            log.warn(`The run of ${id} was interrupted when its window was closed; its finished tasks were saved.`);
        });
    });
    const results = new RunComparisons(() => server.running);
    const page = new ResultPage(() => server.running, connect, context.extensionUri, context.workspaceState);
    const tests = new TestExplorer(() => server.running, server.ensureRunning, runs, (title, id) => chooseRunOptions(context, title, id, server.running));

    const mcpServersMayChange = new vscode.EventEmitter<void>();
    const followPythonExtension = () =>
        void onDidSelectEnvironment(() => void runs.whenIdle().then(() => server.reconsider())).then((listener) => listener && context.subscriptions.push(listener));

    const command = (id: string, action: (...argument: never[]) => unknown) => vscode.commands.registerCommand(`waza.${id}`, action);
    context.subscriptions.push(
        log,
        status,
        server,
        tests,
        runStatusBar,
        results,
        page,
        runs.addView(({ id }) => page.view(id)),
        runs.regrades.onDidEnd((regraded) => {
            runStatusBar.showRegraded(regraded);
            page.refreshSoon();
            void completeStep.regraded();
        }),
        runs.addView(({ id }) => interruptedRunIds.view(id)),
        runs.addView((request, together) => runStatusBar.viewOf(request, together)),
        runs.onDidEndBatch((together) => {
            runStatusBar.showBatch(together);
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
        registerTasks(async (reach) => {
            if (reach) {
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
        command("runSuite", openFileFirst(() => run(server, runs, "suite", page.suiteInFront))),
        command("runAtCursor", () => run(server, runs, "cursor")),
        command("runAffectedTasks", async () => {
            const [id, client] = [await runnableToRun(server, "suite"), server.running];
            if (client !== undefined && id !== undefined) {
                await runs.runAffected(client, id);
            }
        }),
        command("runWith", async (argument: unknown) => {
            await runWith(server, runs, context, itemIdOf(argument));
        }),
        command("createSuite", (argument: unknown) => createSuite(server.ensureRunning, argument instanceof vscode.Uri ? argument : undefined)),
        command("createTask", openFileFirst(() => createTask(server.ensureRunning, page.suiteInFront))),
        command("createGrader", () => createGrader(server.ensureRunning)),
        command("setProviderKey", async (variable?: string) => {
            if ((await keys.askForKey(variable)) && server.isRequested) {
                await restartAfterRuns();
            }
        }),
        command("openResult", openFileFirst(async (argument: unknown) => {
            const id = await recordedItem(server, argument);
            if (id !== undefined) {
                await page.open(recordedItemOf(id)); // that of a trial or a grader is on the page of its task
            }
        })),
        command("measureStrength", async () => {
            const [id, client] = [await runnableToRun(server, "suite"), server.running];
            if (client !== undefined && id !== undefined) {
                await runMutationTesting(client, id);
            }
        }),
        command("reviewAnswers", async (argument: unknown) => {
            const id = await recordedItem(server, argument);
            const client = id === undefined ? undefined : await server.ensureRunning();
            if (id !== undefined && client !== undefined) {
                await reviewAnswers(client, id, (answer) => page.open(recordedItemOf(answer)));
            }
        }),
        command("compareResults", async (argument: unknown) => {
            const id = await recordedItem(server, argument);
            const client = id === undefined ? undefined : await server.ensureRunning();
            if (id !== undefined && client !== undefined) {
                await results.compare(client, id);
            }
        }),
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
        command("openWorkspace", async (argument: unknown) => {
            const id = await recordedItem(server, argument);
            const client = id === undefined ? undefined : await server.ensureRunning();
            if (id !== undefined && client !== undefined) {
                await openWorkspace(client, id);
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
                void server.reconsider(); // who comes back from a terminal may have installed it there
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
    openRuns?.close();
    await connection?.shutDown();
}

/** Any YAML file activates the extension; a server, and questions about Python, need a suite or a skill. */
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

/** Other tools name files `eval.yaml` too, so the text of some is read. */
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

/** The id of the suite of the active file, or of the item at its cursor; without one a message says why, `nothing` if the file has none. */
async function runnableInEditor(server: ServerConnection, what: "suite" | "cursor", noneMessage: string, shown?: string): Promise<string | undefined> {
    await startDecision;
    if (!server.isRequested && shown === undefined && vscode.window.activeTextEditor !== undefined) {
        void vscode.window.showInformationMessage(noneMessage); // a shortcut, in a file that is none of ours
        return undefined;
    }
    const client = await server.ensureRunning(); // a command may be quicker than a server that has just begun
    const editor = client === undefined ? undefined : await editorOfSuite(client, shown);
    if (client === undefined || editor === undefined) {
        return undefined; // there is no server, or the person has chosen no suite
    }
    const id = runnableAt(await runnablesIn(client, editor.document), what, editor.selection.active.line);
    if (id === undefined) {
        void vscode.window.showInformationMessage(noneMessage);
    }
    return id;
}

/** The id of the item to run in the active file; without one a message says why. */
function runnableToRun(server: ServerConnection, what: "suite" | "cursor", shown?: string): Promise<string | undefined> {
    return runnableInEditor(server, what, "There is nothing to run in this file.", shown);
}

/** The id in the argument of a results command, else of the item at the cursor; without one, or without trust, a message says why. */
async function recordedItem(server: ServerConnection, argument: unknown): Promise<string | undefined> {
    if (!isTrustedFor(RESULTS_NEED_TRUST)) {
        return undefined;
    }
    return itemIdOf(argument) ?? (await runnableInEditor(server, "cursor", "Open a suite file first: a result is that of a suite or a task."));
}

/** A command that is also in the Explorer: there it is given the file that it is about, which is opened first. */
function openFileFirst(action: (argument: unknown) => unknown): (argument: unknown) => Promise<unknown> {
    return async (argument) => {
        if (argument instanceof vscode.Uri && argument.toString() !== vscode.window.activeTextEditor?.document.uri.toString()) {
            await vscode.window.showTextDocument(argument);
        }
        return action(argument);
    };
}

/** Runs the suite of the active file, or the item at its cursor; `shown` is the eval file whose result is in front, when one is. */
async function run(server: ServerConnection, runs: Runs, what: "suite" | "cursor", shown?: string): Promise<void> {
    const [id, client] = [await runnableToRun(server, what, shown), server.running];
    if (client !== undefined && id !== undefined) {
        await runs.run(client, { id });
    }
}

/** Asks for the options of a run, and starts it: of the item that a lens names, or of the item at the cursor. */
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
