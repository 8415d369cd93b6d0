/** What the user is asked about Python: where the server is, and whether to create an environment for it. */

import * as vscode from "vscode";
import { withoutPython } from "./installAdvice";
import { askForServer, findOnPath, interpretersOnPath, isRecentPython, type Interpreter } from "./interpreters";
import { plain } from "./messages";
import type { PrivateEnvironment } from "./privateEnvironment";
import { candidates, type Resolution } from "./serverEnvironment";

const CREATE = "Create a Private Environment";
const SELECT = "Select Interpreter…";
const SHOW_LOG = "Show Log";

/** Says that no interpreter has the server, and offers the ways out that there are on this machine. */
export async function offerWaysOut(
    resolution: Resolution,
    environment: PrivateEnvironment,
    workingDirectory: string,
    log: vscode.LogOutputChannel,
): Promise<void> {
    const canCreate = findOnPath("uv") !== undefined || (await recentPython(environment, workingDirectory)) !== undefined;
    const asked = resolution.rejections.map((rejection) => rejection.interpreter.command);
    const chosen = canCreate
        ? await vscode.window.showErrorMessage(plain(explanation(resolution)), CREATE, SELECT, SHOW_LOG)
        : await vscode.window.showErrorMessage(plain(withoutPython(process.platform, asked)), SELECT, SHOW_LOG);
    if (chosen === CREATE) {
        await vscode.commands.executeCommand("waza.createEnvironment");
    } else if (chosen === SELECT) {
        await vscode.commands.executeCommand("waza.selectInterpreter");
    } else if (chosen === SHOW_LOG) {
        log.show();
    }
}

/** Creates the private environment with a progress notification; false when it failed or was canceled. */
export async function createEnvironment(
    environment: PrivateEnvironment,
    workingDirectory: string,
    log: vscode.LogOutputChannel,
): Promise<boolean> {
    const options = {
        location: vscode.ProgressLocation.Notification,
        title: "Waza: creating a private Python environment",
        cancellable: true,
    };
    return vscode.window.withProgress(options, async (progress, token) => {
        try {
            progress.report({ message: "looking for Python" });
            const base = await recentPython(environment, workingDirectory);
            await environment.create(base, token, (message) => {
                progress.report({ message });
            });
            vscode.window.setStatusBarMessage("$(check) Waza is ready", 10_000);
            return true;
        } catch (error) {
            if (!token.isCancellationRequested) {
                const reason = error instanceof Error ? error.message : String(error);
                log.error(`The private environment was not created: ${reason}`);
                void showFailure(`The private environment was not created. ${reason}`, log);
            }
            return false;
        }
    });
}

/** Lets the user choose among the interpreters found, or browse for one, and stores it in the user's settings. */
export async function selectInterpreter(environment: PrivateEnvironment, workingDirectory: string): Promise<void> {
    const browse: vscode.QuickPickItem = { label: "$(folder-opened) Browse…", alwaysShow: true };
    const chosen = await vscode.window.showQuickPick(listed(environment, workingDirectory, browse), {
        title: "Python interpreter that has waza-language-server",
    });
    if (chosen === undefined) {
        return;
    }
    const command = chosen === browse ? await browseForPython() : chosen.label;
    if (command !== undefined) {
        const target = vscode.ConfigurationTarget.Global;
        await vscode.workspace.getConfiguration("waza").update("interpreter", command, target);
    }
}

function explanation(resolution: Resolution): string {
    if (resolution.setting !== undefined) {
        const reason = resolution.rejections[0]?.reason ?? "it was not found";
        return `The interpreter in the setting waza.interpreter (${resolution.setting}) does not run the Waza language server: ${reason}`;
    }
    const asked = resolution.rejections.map((rejection) => rejection.interpreter.command).join(", ");
    const where = asked === "" ? "No Python was found." : `Asked: ${asked}.`;
    return `No Python interpreter here has waza-language-server. ${where} This extension can create an environment of its own.`;
}

async function listed(
    environment: PrivateEnvironment,
    workingDirectory: string,
    browse: vscode.QuickPickItem,
): Promise<vscode.QuickPickItem[]> {
    const found = await Promise.all(
        (await candidates(environment)).map(async (interpreter) => {
            const answer = await askForServer(interpreter, workingDirectory);
            const detail = "version" in answer ? `waza-language-server ${answer.version}` : answer.reason;
            return { label: interpreter.command, description: interpreter.origin, detail };
        }),
    );
    return [...found, browse];
}

async function browseForPython(): Promise<string | undefined> {
    const files = await vscode.window.showOpenDialog({ title: "Python interpreter", canSelectMany: false });
    return files?.[0]?.fsPath;
}

async function recentPython(environment: PrivateEnvironment, workingDirectory: string): Promise<Interpreter | undefined> {
    for (const interpreter of [...interpretersOnPath(), ...(await candidates(environment))]) {
        if (await isRecentPython(interpreter, workingDirectory)) {
            return interpreter;
        }
    }
    return undefined;
}

async function showFailure(message: string, log: vscode.LogOutputChannel): Promise<void> {
    if ((await vscode.window.showErrorMessage(plain(message), SHOW_LOG)) !== undefined) {
        log.show();
    }
}
