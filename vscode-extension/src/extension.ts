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
import { registerChanges } from "./changes";
import { ServerConnection } from "./client";
import { ContextKeys, done } from "./contextKeys";
import { openPage } from "./documentation";
import { EnterRules } from "./enterRules";
import { createEnvironment, MACHINE, offerToUseIt, offerWaysOut, selectInterpreter, serverIsThere } from "./interpreterPrompts";
import { createGrader, createSuite, createTask, saveRecordAsTask } from "./making";
import { Marks } from "./marks";
import { OpenRuns } from "./openRuns";
import { PRIVATE, PrivateEnvironment } from "./privateEnvironment";
import { registerMcpServers, registerTasks } from "./programs";
import { ProviderKeys } from "./providerKeys";
import { onDidSelectEnvironment } from "./pythonExtension";
import { chosenIn, runnablesIn, titleOf } from "./runnables";
import { chosenItem, chosenRecord, recordedOf, ResultDocuments } from "./resultDocuments";
import { ResultPage } from "./resultPage";
import { reviewAnswers } from "./reviews";
import { RunLog } from "./runLog";
import { chooseExecutor, chooseRunOptions, logIn } from "./runChoices";
import { runEnvironment, runOptions, wrongSetting } from "./runSettings";
import { openJudged } from "./openJudged";
import { Runs } from "./runs";
import { RunStatusBar } from "./runStatus";
import type { Place } from "./runWords";
import { resolveServer } from "./serverEnvironment";
import { Trials } from "./trials";
import { openWorkspace } from "./trialWorkspaces";
import { Status } from "./status";
import { measureStrength } from "./strength";
import { isTrustedFor, RESULTS_NEED_TRUST, RUNS_NEED_TRUST } from "./trust";
import { TestExplorer } from "./testing/explorer";
import { isSkillFile, looksLikeSuiteFile, NAMED_EVALS_GLOB, NAMED_PROMPTS_GLOB, SKILL_GLOB, SUITE_FILE_GLOB } from "./suiteFiles";
import { silenceYamlExtension } from "./yamlCoexistence";

let connection: ServerConnection | undefined;
let openRuns: OpenRuns | undefined;
/** Resolves when it is known whether the workspace needs a server. */
let decided: Promise<void> = Promise.resolve();

export function activate(context: vscode.ExtensionContext): void {
    const log = vscode.window.createOutputChannel("Waza", { log: true });
    const status = new Status();
    const runSettings = (suite?: string) => vscode.workspace.getConfiguration("waza.run", suite === undefined ? undefined : vscode.Uri.file(suite));
    const runs = new Runs(
        log,
        (suite) => runOptions((name) => runSettings(suite).get(name)),
        (suite, chosen) => wrongSetting((name) => runSettings(suite).get(name), chosen),
    );
    const keys = new ProviderKeys(context);
    // Python imports from the folder it starts in, so that must be one of ours and not the workspace.
    const workingDirectory = context.extensionPath;
    const storage = context.globalStorageUri.fsPath;
    const environment = new PrivateEnvironment(storage, path.join(context.extensionPath, "bundled"), MACHINE, log);

    let wasTold = false;
    const resolve = async () => {
        const found = await resolveServer(environment, workingDirectory, log);
        const isItsTurn = found.setting === undefined && (found.server === undefined || found.server.interpreter.origin === PRIVATE);
        wasTold = false;
        if (!isItsTurn || !environment.isOutdated) {
            return found;
        }
        const kept = found.server === undefined ? "" : ` Until then the older server is used.`;
        if (await createEnvironment(environment, workingDirectory, log, kept)) {
            return resolveServer(environment, workingDirectory, log);
        }
        wasTold = true;
        return found;
    };
    const server = new ServerConnection(
        resolve,
        (resolution) => void offerWaysOut(resolution, environment, workingDirectory, status, wasTold, log),
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
            status.shows(document, kind);
        },
    );
    const restart = () => server.restart();
    const restartBehindRuns = async () => {
        await runs.atRest("Active runs keep their environment; later runs use the new one.");
        await restart();
    };
    const connect = async () => {
        await server.start();
        return server.running;
    };
    const statusBar = new RunStatusBar((requests) => void runs.runEach(() => server.running, requests));
    const open = new OpenRuns(context.workspaceState);
    openRuns = open;
    void open.takeInterrupted().then((ids) => {
        ids.forEach((id) => {
            statusBar.tellInterrupted(id);
            log.warn(`The run of ${id} was interrupted when its window was closed; its finished tasks were saved.`);
        });
    });
    const results = new ResultDocuments(() => server.running);
    const page = new ResultPage(() => server.running, connect, context.extensionUri, context.workspaceState);
    const tests = new TestExplorer(() => server.running, server.reached, runs, (title, id) => chooseRunOptions(context, title, id, server.running));

    const mcpMayChange = new vscode.EventEmitter<void>();
    const followPythonExtension = () =>
        void onDidSelectEnvironment(() => void runs.atRest().then(() => server.reconsider())).then((listener) => listener && context.subscriptions.push(listener));

    const command = (id: string, action: (...given: never[]) => unknown) => vscode.commands.registerCommand(`waza.${id}`, action);
    context.subscriptions.push(
        log,
        status,
        server,
        tests,
        statusBar,
        results,
        page,
        runs.addView(({ id }) => page.view(id)),
        runs.regrades.onDidEnd((regraded) => {
            statusBar.tellRegraded(regraded);
            page.refreshSoon();
            void done.regraded();
        }),
        runs.addView(({ id }) => open.view(id)),
        runs.addView((request, together) => statusBar.viewOf(request, together)),
        runs.onDidEndTogether((together) => {
            statusBar.tellTogether(together);
        }),
        runs.addView((request) => new RunLog(log, request)),
        server.onDidStart(() => void serverIsThere()),
        server.onDidStart(() => void tests.serverStarted()),
        server.onDidStart(() => {
            page.serverStarted();
        }),
        silenceYamlExtension(log),
        registerChanges(() => server.running),
        new Trials(() => server.running, server.reached, server.onDidChangeMarks),
        marks,
        marks.onDidChangeFiles((files) => {
            tests.showRecorded(files);
        }),
        server.onDidGiveUp(() => {
            marks.withdraw();
        }),
        contextKeys,
        server.onDidChangeMarks((change) => {
            marks.refresh(change);
            if (change.files) {
                contextKeys.refresh();
                tests.evidenceChanged();
                page.refreshSoon();
            }
        }),
        new EnterRules(isSuiteFile),
        registerTasks(async (reach) => {
            if (reach) {
                await server.reached();
            }
            return server.interpreter;
        }),
        mcpMayChange,
        server.onDidStart(() => {
            mcpMayChange.fire();
        }),
        registerMcpServers(() => server.interpreter, mcpMayChange.event, (context.extension.packageJSON as { version: string }).version),
        command("restartServer", restart),
        command("showLog", () => {
            log.show();
        }),
        command("cancelRun", () => {
            runs.cancelAll();
        }),
        command("runSuite", inFile(() => run(server, runs, "suite", page.suiteInFront))),
        command("runAtCursor", () => run(server, runs, "cursor")),
        command("runAffectedTasks", async () => {
            const [id, client] = [await toRun(server, "suite"), server.running];
            if (client !== undefined && id !== undefined) {
                await runs.runAffected(client, id);
            }
        }),
        command("runWith", async (given: unknown) => {
            await runWith(server, runs, context, chosenItem(given));
        }),
        command("createSuite", (given: unknown) => createSuite(server.reached, given instanceof vscode.Uri ? given : undefined)),
        command("createTask", inFile(() => createTask(server.reached, page.suiteInFront))),
        command("createGrader", () => createGrader(server.reached)),
        command("setProviderKey", async (variable?: string) => {
            if ((await keys.ask(variable)) && server.isWanted) {
                await restartBehindRuns();
            }
        }),
        command("openResult", inFile(async (given: unknown) => {
            const id = await recorded(server, given);
            if (id !== undefined) {
                await page.open(recordedOf(id)); // that of a trial or a grader is on the page of its task
            }
        })),
        command("measureStrength", async () => {
            const [id, client] = [await toRun(server, "suite"), server.running];
            if (client !== undefined && id !== undefined) {
                await measureStrength(client, id);
            }
        }),
        command("reviewAnswers", async (given: unknown) => {
            const id = await recorded(server, given);
            const client = id === undefined ? undefined : await server.reached();
            if (id !== undefined && client !== undefined) {
                await reviewAnswers(client, id, (answer) => page.open(recordedOf(answer)));
            }
        }),
        command("compareResults", async (given: unknown) => {
            const id = await recorded(server, given);
            const client = id === undefined ? undefined : await server.reached();
            if (id !== undefined && client !== undefined) {
                await results.compare(client, id);
            }
        }),
        command("openJudged", async ({ task, grader }: { readonly task: string; readonly grader: string }) => {
            const client = await server.reached();
            if (client !== undefined) {
                await openJudged(client, task, grader);
            }
        }),
        command("saveRecord", async (given: unknown) => {
            const id = await recorded(server, given);
            if (id !== undefined) {
                await saveRecordAsTask(server.reached, id, chosenRecord(given));
            }
        }),
        command("openWorkspace", async (given: unknown) => {
            const id = await recorded(server, given);
            const client = id === undefined ? undefined : await server.reached();
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
        command("openFile", ({ file, line = 1 }: Place) =>
            vscode.window.showTextDocument(vscode.Uri.file(file), { selection: new vscode.Range(line - 1, 0, line - 1, 0) }),
        ),
        command("selectInterpreter", () => selectInterpreter(environment, workingDirectory)),
        command("createEnvironment", async () => {
            if (await createEnvironment(environment, workingDirectory, log)) {
                await restart();
                await offerToUseIt();
            }
        }),
        vscode.workspace.onDidChangeConfiguration((change) => {
            const restarts = ["waza.interpreter", "waza.run.environment"];
            if (restarts.some((name) => change.affectsConfiguration(name)) && server.isWanted) {
                void restartBehindRuns();
            } else {
                void server.tellSettings(change);
            }
        }),
        vscode.workspace.onDidChangeWorkspaceFolders(() => {
            mcpMayChange.fire();
            void server.tellFolders();
        }),
        vscode.window.onDidChangeWindowState(({ focused }) => {
            if (focused && server.isMissing) {
                void server.reconsider(); // who comes back from a terminal may have installed it there
            }
        }),
        vscode.workspace.onDidGrantWorkspaceTrust(() => {
            followPythonExtension();
            if (server.isWanted) {
                void restart();
            }
        }),
    );
    followPythonExtension();

    decided = startWithFirstSuiteFile(context, server);
}

export async function deactivate(): Promise<void> {
    openRuns?.close();
    await connection?.shutDown();
}

/** Any YAML file activates the extension; a server, and questions about Python, need a suite or a skill. */
async function startWithFirstSuiteFile(context: vscode.ExtensionContext, server: ServerConnection): Promise<void> {
    const startFor = (document: vscode.TextDocument) => {
        if (!server.isWanted && (isSuiteFile(document) || isSkillFile(document.uri.fsPath))) {
            void server.start();
        }
    };
    const startForWorkspace = async () => {
        if (!server.isWanted && (await workspaceConcernsUs())) {
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
async function workspaceConcernsUs(): Promise<boolean> {
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
async function chosenInEditor(server: ServerConnection, what: "suite" | "cursor", nothing: string, shown?: string): Promise<string | undefined> {
    await decided;
    if (!server.isWanted && shown === undefined && vscode.window.activeTextEditor !== undefined) {
        void vscode.window.showInformationMessage(nothing); // a shortcut, in a file that is none of ours
        return undefined;
    }
    const client = await server.reached(); // a command may be quicker than a server that has just begun
    const editor = client === undefined ? undefined : await editorOfSuite(client, shown);
    if (client === undefined || editor === undefined) {
        return undefined; // there is no server, or the person has chosen no suite
    }
    const id = chosenIn(await runnablesIn(client, editor.document), what, editor.selection.active.line);
    if (id === undefined) {
        void vscode.window.showInformationMessage(nothing);
    }
    return id;
}

/** The id of the item to run in the active file; without one a message says why. */
function toRun(server: ServerConnection, what: "suite" | "cursor", shown?: string): Promise<string | undefined> {
    return chosenInEditor(server, what, "There is nothing to run in this file.", shown);
}

/** The id in the argument of a results command, else of the item at the cursor; without one, or without trust, a message says why. */
async function recorded(server: ServerConnection, given: unknown): Promise<string | undefined> {
    if (!isTrustedFor(RESULTS_NEED_TRUST)) {
        return undefined;
    }
    return chosenItem(given) ?? (await chosenInEditor(server, "cursor", "Open a suite file first: a result is that of a suite or a task."));
}

/** A command that is also in the Explorer: there it is given the file that it is about, which is opened first. */
function inFile(action: (given: unknown) => unknown): (given: unknown) => Promise<unknown> {
    return async (given) => {
        if (given instanceof vscode.Uri && given.toString() !== vscode.window.activeTextEditor?.document.uri.toString()) {
            await vscode.window.showTextDocument(given);
        }
        return action(given);
    };
}

/** Runs the suite of the active file, or the item at its cursor; `shown` is the eval file whose result is in front, when one is. */
async function run(server: ServerConnection, runs: Runs, what: "suite" | "cursor", shown?: string): Promise<void> {
    const [id, client] = [await toRun(server, what, shown), server.running];
    if (client !== undefined && id !== undefined) {
        await runs.run(client, { id });
    }
}

/** Asks for the options of a run, and starts it: of the item that a lens names, or of the item at the cursor. */
async function runWith(server: ServerConnection, runs: Runs, context: vscode.ExtensionContext, given: string | undefined): Promise<void> {
    if (!isTrustedFor(RUNS_NEED_TRUST)) {
        return;
    }
    const [id, client] = [given ?? (await toRun(server, "cursor")), server.running];
    const options = client === undefined || id === undefined ? undefined : await chooseRunOptions(context, titleOf(id), id, client);
    if (client !== undefined && id !== undefined && options !== undefined) {
        await runs.run(client, { id, options });
    }
}
