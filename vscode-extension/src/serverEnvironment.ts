/**
 * Decides which Python runs the language server for this window.
 *
 * Order: the setting `waza.interpreter` (then no other is tried), the environment selected in the Python extension,
 * the nearest `.venv` above the workspace folders and the open file, Python on PATH, the private environment.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import {
    askForServer,
    interpreterFromSetting,
    interpretersOnPath,
    isInside,
    nearestVirtualEnvironment,
    type FoundServer,
    type Interpreter,
    type Rejection,
} from "./interpreters";
import type { PrivateEnvironment } from "./privateEnvironment";
import { selectedInPythonExtension } from "./pythonExtension";

export interface Resolution {
    readonly server: FoundServer | undefined;
    readonly rejections: readonly Rejection[];
    /** The value of `waza.interpreter` when it decided alone. */
    readonly setting: string | undefined;
}

/** Asks the candidates one after the other until one has the server. */
export async function resolveServer(
    environment: PrivateEnvironment,
    workingDirectory: string,
    log: vscode.LogOutputChannel,
): Promise<Resolution> {
    const folder = workspacePaths()[0];
    const setting = vscode.workspace.getConfiguration("waza").get<string>("interpreter", "").trim();
    const interpreters = setting === "" ? await candidates(environment) : [interpreterFromSetting(setting, folder)];
    const rejections: Rejection[] = [];
    for (const interpreter of interpreters) {
        const answer = await askForServer(interpreter, workingDirectory);
        if ("version" in answer) {
            log.info(`Language server ${answer.version} in ${interpreter.command} (${interpreter.origin}).`);
            return { server: answer, rejections, setting: setting || undefined };
        }
        log.info(`Passed over ${interpreter.command} (${interpreter.origin}): ${answer.reason}`);
        rejections.push(answer);
    }
    return { server: undefined, rejections, setting: setting || undefined };
}

/** Every interpreter worth asking, best first, each once. */
export async function candidates(environment: PrivateEnvironment): Promise<Interpreter[]> {
    const found: (Interpreter | undefined)[] = [await selectedInPythonExtension()];
    for (const folder of [...workspacePaths(), ...foldersOfOpenFiles()]) {
        found.push(nearestVirtualEnvironment(folder));
    }
    found.push(...interpretersOnPath(), environment.interpreter);
    const seen = new Set<string>();
    return found.filter((interpreter): interpreter is Interpreter => {
        if (interpreter === undefined || seen.has(interpreter.command) || !mayRun(interpreter)) {
            return false;
        }
        seen.add(interpreter.command);
        return true;
    });
}

/** In Restricted Mode an interpreter that lies in the workspace is code of the workspace. */
function mayRun(interpreter: Interpreter): boolean {
    return vscode.workspace.isTrusted || !isInside(interpreter.command, workspacePaths());
}

function workspacePaths(): string[] {
    return (vscode.workspace.workspaceFolders ?? [])
        .filter((folder) => folder.uri.scheme === "file")
        .map((folder) => folder.uri.fsPath);
}

function foldersOfOpenFiles(): string[] {
    return vscode.workspace.textDocuments
        .filter((document) => document.uri.scheme === "file" && document.languageId === "yaml")
        .map((document) => path.dirname(document.uri.fsPath));
}
