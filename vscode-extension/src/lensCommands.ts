/**
 * Makes the commands of lenses wait while the server restarts: its commands are not registered then, and VS Code would answer a click
 * with "command 'waza.run' not found".
 */

import * as vscode from "vscode";

const WAIT_FOR_SERVER = "waza.atServer";

/** Registers the command that waits for the server; `ensureRunning` returns undefined, after a message, if it cannot be started. */
export function registerLensCommands(ensureRunning: () => Promise<unknown>): vscode.Disposable {
    return vscode.commands.registerCommand(WAIT_FOR_SERVER, async (command: string, ...args: unknown[]) =>
        (await ensureRunning()) === undefined ? undefined : vscode.commands.executeCommand(command, ...args),
    );
}

/** Wraps the command of a lens in the one that waits for the server. */
export function waitingForServer(lens: vscode.CodeLens): vscode.CodeLens {
    if (lens.command !== undefined) {
        const { command, arguments: args } = lens.command;
        lens.command = { ...lens.command, command: WAIT_FOR_SERVER, arguments: [command, ...((args as unknown[] | undefined) ?? [])] };
    }
    return lens;
}
