/** The packages that agents and judges need in addition to the language server: added when a run first needs them. */

import * as vscode from "vscode";
import type { Interpreter } from "./interpreters";
import { plain } from "./messages";
import { openTerminal } from "./programs";
import { PRIVATE, type PrivateEnvironment } from "./privateEnvironment";

const TITLE = "Waza: installing the packages of agents and judges";

/**
 * Adds it to the private environment; a Python of the user's own gets the command in a terminal, for them to send.
 *
 * @param command `pip install …`, or that of the tool which made the Python, as the engine says it
 * @returns whether it is there now
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
            const reason = error instanceof Error ? error.message : String(error);
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
