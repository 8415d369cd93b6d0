/** Installs the packages that agents and judges need in addition to the language server, when a run first needs them. */

import * as vscode from "vscode";
import type { Interpreter } from "./interpreters";
import { errorMessage, plain } from "./messages";
import { PRIVATE, type PrivateEnvironment } from "./privateEnvironment";
import { openTerminal } from "./programs";

const TITLE = "Waza: installing the packages of agents and judges";

/**
 * Installs them in the private environment; for any other Python, types the command into a terminal for the user to send.
 *
 * @param command `pip install …`, or the command of the tool that created the Python, as the engine reports it
 * @returns whether the packages were installed
 */
export async function addAgents(environment: PrivateEnvironment, interpreter: Interpreter, command: string, log: vscode.LogOutputChannel): Promise<boolean> {
    if (interpreter.origin !== PRIVATE) {
        const terminal = openTerminal("Agents for Waza");
        const python = [interpreter.command, ...interpreter.args].map(quoted).join(" ");
        terminal?.sendText(command.startsWith("pip ") ? `${python} -m ${command}` : command, false);
        return false;
    }
    const options = { location: vscode.ProgressLocation.Notification, title: TITLE, cancellable: true };
    return vscode.window.withProgress(options, async (progress, token) => {
        try {
            await environment.addAgents(token, (message) => {
                progress.report({ message });
            });
            return true;
        } catch (error) {
            const reason = errorMessage(error);
            if (!token.isCancellationRequested) {
                log.error(`The agent packages were not installed: ${reason}`);
                void vscode.window.showErrorMessage(plain(`The agent packages were not installed. ${reason}`));
            }
            return false;
        }
    });
}

function quoted(word: string): string {
    return /\s/u.test(word) ? `"${word}"` : word;
}
