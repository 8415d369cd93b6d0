/**
 * The commands of lenses, which wait for a server that is being started again: its own are unknown meanwhile, and VS Code would answer
 * a click with "command 'waza.run' not found".
 */

import * as vscode from "vscode";

const WAIT_FOR_SERVER = "waza.atServer";

/** Executes the commands of lenses when the server is up; `reached` resolves to undefined, after a message, when it cannot be started. */
export function registerLensCommands(ensureRunning: () => Promise<unknown>): vscode.Disposable {
    return vscode.commands.registerCommand(WAIT_FOR_SERVER, async (command: string, ...args: unknown[]) =>
        (await ensureRunning()) === undefined ? undefined : vscode.commands.executeCommand(command, ...args),
    );
}

/** The same lens, whose command waits for the server. */
export function waitingForServer(lens: vscode.CodeLens): vscode.CodeLens {
    if (lens.command !== undefined) {
        const { command, arguments: args } = lens.command;
        lens.command = { ...lens.command, command: WAIT_FOR_SERVER, arguments: [command, ...((args as unknown[] | undefined) ?? [])] };
    }
    return lens;
}
