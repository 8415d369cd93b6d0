/**
 * The commands of lenses, which wait for a server that is being started again: its own are unknown meanwhile, and VS Code would answer
 * a click with "command 'waza.run' not found".
 */

import * as vscode from "vscode";

const AT_SERVER = "waza.atServer";

/** Executes the commands of lenses when the server is up; `reached` resolves to undefined, after a message, when it cannot be started. */
export function registerLensCommands(reached: () => Promise<unknown>): vscode.Disposable {
    return vscode.commands.registerCommand(AT_SERVER, async (command: string, ...given: unknown[]) =>
        (await reached()) === undefined ? undefined : vscode.commands.executeCommand(command, ...given),
    );
}

/** The same lens, whose command waits for the server. */
export function waitingForServer(lens: vscode.CodeLens): vscode.CodeLens {
    if (lens.command !== undefined) {
        const { command, arguments: given } = lens.command;
        lens.command = { ...lens.command, command: AT_SERVER, arguments: [command, ...((given as unknown[] | undefined) ?? [])] };
    }
    return lens;
}
