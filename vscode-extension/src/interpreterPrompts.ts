/** Asks the user about Python: which interpreter has the server, and whether to create an environment for it. */

import * as vscode from "vscode";
import { type Advice, adviceWithoutPython } from "./installAdvice";
import { describePython, findOnPath, findUv, interpretersOnPath, probeServer, type PythonInfo } from "./interpreters";
import type { LanguageStatus } from "./languageStatus";
import { errorMessage, plain } from "./messages";
import type { PrivateEnvironment } from "./privateEnvironment";
import { candidates, type Resolution } from "./serverResolution";

const CREATE = "Create Environment"; // short enough for three buttons in one row
const AGAIN = "Try Again";
const SELECT = "Select Python…";
const SHOW_LOG = "Show Log";

/** The current machine. */
export const MACHINE = {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    has: (program: string) => findOnPath(program) !== undefined,
};

/** The number of open messages that no Python has the server. */
let unanswered = 0;

/**
 * Reports that no interpreter has the server, with buttons for what helps on this machine.
 *
 * @param wasReported whether another message was shown already, so that only the status bar is updated
 */
export async function reportMissingServer(
    resolution: Resolution,
    environment: PrivateEnvironment,
    workingDirectory: string,
    status: LanguageStatus,
    wasReported: boolean,
    log: vscode.LogOutputChannel,
): Promise<void> {
    const pythons = await describePythons(environment, workingDirectory);
    const say = async (message: string, ...buttons: string[]) => {
        if (wasReported) {
            return;
        }
        unanswered += 1;
        const chosen = await showError(message, ...buttons, SELECT, SHOW_LOG);
        unanswered -= 1;
        await runButton(chosen, log);
    };
    if (resolution.setting !== undefined) {
        status.showFailure(settingProblem(resolution), "waza.selectInterpreter", SELECT);
        await say(settingProblem(resolution));
    } else if (findUv() !== undefined || pythons.some(canCreateEnvironments)) {
        status.showFailure("no Python here has waza-language-server", "waza.createEnvironment", CREATE);
        await say(missingServerMessage(resolution), CREATE);
    } else {
        const { sentence, canTryAgain }: Advice = adviceWithoutPython(MACHINE, pythons);
        status.showFailure(sentence.split(";", 1)[0] ?? sentence, "waza.restartServer", AGAIN);
        await say(sentence, ...(canTryAgain ? [AGAIN] : []));
    }
}

/** Hides the messages that no Python has the server; VS Code keeps them in its notification center. */
export async function hideMissingServerMessages(): Promise<void> {
    if (unanswered > 0) {
        await vscode.commands.executeCommand("notifications.hideToasts");
    }
}

/**
 * Creates the private environment with a progress notification; returns false if this failed or was cancelled.
 *
 * @param fallbackNote what still works if an update of the environment fails
 */
export async function createEnvironment(
    environment: PrivateEnvironment,
    workingDirectory: string,
    log: vscode.LogOutputChannel,
    fallbackNote?: string,
): Promise<boolean> {
    const options = {
        location: vscode.ProgressLocation.Notification,
        title: "Waza: creating a private Python environment",
        cancellable: true,
    };
    const failed = await vscode.window.withProgress(options, async (progress, token) => {
        try {
            progress.report({ message: "looking for Python" });
            const pythons = await describePythons(environment, workingDirectory);
            const base = pythons.find(canCreateEnvironments)?.interpreter;
            if (base === undefined && findUv() === undefined) {
                return adviceWithoutPython(MACHINE, pythons).sentence;
            }
            await environment.create(base, token, (message) => {
                progress.report({ message });
            });
            return undefined;
        } catch (error) {
            return token.isCancellationRequested ? "" : errorMessage(error);
        }
    });
    if (failed === undefined) {
        vscode.window.setStatusBarMessage("$(check) Waza is ready", 10_000);
    } else if (failed !== "") {
        log.error(`The private environment was not created: ${failed}`);
        void showError(`The private environment was not created. ${failed}${fallbackNote ?? ""}`, AGAIN, SHOW_LOG).then((chosen) =>
            chosen === AGAIN ? vscode.commands.executeCommand("waza.createEnvironment") : runButton(chosen, log),
        );
    }
    return failed === undefined;
}

/** Lets the user choose one of the interpreters or browse for one, and stores it in the settings that are in force. */
export async function selectInterpreter(environment: PrivateEnvironment, workingDirectory: string): Promise<void> {
    const settings = vscode.workspace.getConfiguration("waza");
    const browse: vscode.QuickPickItem = { label: "$(folder-opened) Browse…", alwaysShow: true };
    const reset: vscode.QuickPickItem = { label: "$(clear-all) The first one that has the server", detail: "Removes the setting waza.interpreter" };
    const extraItems = settings.get<string>("interpreter", "").trim() === "" ? [browse] : [reset, browse];
    const chosen = await vscode.window.showQuickPick(interpreterItems(environment, workingDirectory, extraItems), {
        title: "Python interpreter that has waza-language-server",
    });
    if (chosen === undefined) {
        return;
    }
    const command = chosen === browse ? await browseForPython() : chosen === reset ? "" : chosen.label;
    if (command !== undefined) {
        await settings.update("interpreter", command === "" ? undefined : command, settingTarget(settings));
    }
}

/** Offers to use a new private environment if the setting `waza.interpreter` names another Python. */
export async function offerPrivateEnvironment(): Promise<void> {
    const settings = vscode.workspace.getConfiguration("waza");
    const other = settings.get<string>("interpreter", "").trim();
    const use = "Use the Private Environment";
    if (other !== "" && (await vscode.window.showInformationMessage(plain(`The setting waza.interpreter still names ${other}.`), use)) === use) {
        await settings.update("interpreter", undefined, settingTarget(settings));
    }
}

/** Returns the scope of the settings that is in force: a value of the workspace overrides one of the user. */
function settingTarget(settings: vscode.WorkspaceConfiguration): vscode.ConfigurationTarget {
    const inspected = settings.inspect<string>("interpreter");
    return inspected?.workspaceFolderValue !== undefined
        ? vscode.ConfigurationTarget.WorkspaceFolder
        : inspected?.workspaceValue !== undefined
          ? vscode.ConfigurationTarget.Workspace
          : vscode.ConfigurationTarget.Global;
}

function settingProblem(resolution: Resolution): string {
    const reason = resolution.rejections[0]?.reason ?? "it was not found";
    return `The interpreter in the setting waza.interpreter (${resolution.setting}) does not run the Waza language server: ${reason}`;
}

function missingServerMessage(resolution: Resolution): string {
    const tried = resolution.rejections.map((rejection) => rejection.interpreter.command).join(", ");
    const where = tried === "" ? "" : ` Tried: ${tried}.`;
    return `No Python interpreter here has waza-language-server.${where} This extension can create an environment of its own.`;
}

/** Shows an error; returns the button that was pressed. */
function showError(message: string, ...buttons: string[]): Thenable<string | undefined> {
    return vscode.window.showErrorMessage(plain(message), ...buttons);
}

async function runButton(chosen: string | undefined, log: vscode.LogOutputChannel): Promise<void> {
    const commands: Record<string, string> = {
        [CREATE]: "waza.createEnvironment",
        [AGAIN]: "waza.restartServer",
        [SELECT]: "waza.selectInterpreter",
    };
    const command = commands[chosen ?? ""];
    if (chosen === SHOW_LOG) {
        log.show();
    } else if (command !== undefined) {
        await vscode.commands.executeCommand(command);
    }
}

async function interpreterItems(
    environment: PrivateEnvironment,
    workingDirectory: string,
    extraItems: readonly vscode.QuickPickItem[],
): Promise<vscode.QuickPickItem[]> {
    const found = await Promise.all(
        (await candidates(environment)).map(async (interpreter) => {
            const answer = await probeServer(interpreter, workingDirectory);
            const detail = "version" in answer ? `waza-language-server ${answer.version}` : answer.reason;
            return { label: interpreter.command, description: interpreter.origin, detail };
        }),
    );
    return [...found, ...extraItems];
}

async function browseForPython(): Promise<string | undefined> {
    const files = await vscode.window.showOpenDialog({ title: "Python interpreter", canSelectMany: false });
    return files?.[0]?.fsPath;
}

function canCreateEnvironments(python: PythonInfo): boolean {
    return python.isRecent && python.hasVenv;
}

/** Returns the Pythons of this machine with their versions, those on PATH first, without those that do not answer. */
async function describePythons(environment: PrivateEnvironment, workingDirectory: string): Promise<PythonInfo[]> {
    const interpreters = new Map([...interpretersOnPath(), ...(await candidates(environment))].map((each) => [each.command, each]));
    const known = await Promise.all([...interpreters.values()].map((each) => describePython(each, workingDirectory)));
    return known.filter((python) => python !== undefined);
}
