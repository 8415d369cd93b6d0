/**
 * Decides which Python interpreter runs the language server of this window.
 *
 * Order: the setting `waza.interpreter` (no other is tried then), the environment selected in the Python extension,
 * the nearest `.venv` above the workspace folders and the open file, Python on PATH, the private environment.
 * In Restricted Mode only the user's own setting, PATH and the private environment count.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import {
    probeServer,
    interpreterFromSetting,
    interpretersOnPath,
    nearestVirtualEnvironment,
    type FoundServer,
    type Interpreter,
    type Rejection,
} from "./interpreters";
import type { PrivateEnvironment } from "./privateEnvironment";
import { startRejection } from "./programs";
import { selectedInPythonExtension } from "./pythonExtension";

export interface Resolution {
    readonly server: FoundServer | undefined;
    readonly rejections: readonly Rejection[];
    /** The value of `waza.interpreter`; undefined if it is not set. */
    readonly setting: string | undefined;
}

/** Tries the candidates one after the other until one has the server. */
export async function resolveServer(
    environment: PrivateEnvironment,
    workingDirectory: string,
    log: vscode.LogOutputChannel,
): Promise<Resolution> {
    const folder = workspacePaths()[0];
    const setting = interpreterSetting();
    const interpreters = setting === "" ? await candidates(environment) : [interpreterFromSetting(setting, folder)];
    const rejections: Rejection[] = [];
    for (const interpreter of interpreters) {
        const answer = await probeServer(interpreter, workingDirectory);
        if ("version" in answer) {
            log.info(`Language server ${answer.version} in ${interpreter.command} (${interpreter.origin}).`);
            return { server: answer, rejections, setting: setting || undefined };
        }
        log.info(`Skipped ${interpreter.command} (${interpreter.origin}): ${answer.reason}`);
        rejections.push(answer);
    }
    return { server: undefined, rejections, setting: setting || undefined };
}

/** Returns the interpreters to try, the best first, each once. */
export async function candidates(environment: PrivateEnvironment): Promise<Interpreter[]> {
    const found: (Interpreter | undefined)[] = [await selectedInPythonExtension()];
    if (vscode.workspace.isTrusted) {
        found.push(...[...workspacePaths(), ...foldersOfOpenFiles()].map(nearestVirtualEnvironment));
    }
    found.push(...interpretersOnPath(), environment.interpreter);
    const seen = new Set<string>();
    return found.filter((interpreter): interpreter is Interpreter => {
        if (interpreter === undefined || seen.has(interpreter.command) || startRejection(interpreter.command) !== undefined) {
            return false;
        }
        seen.add(interpreter.command);
        return true;
    });
}

/** Returns the value of `waza.interpreter`; in Restricted Mode only that of the user settings. */
function interpreterSetting(): string {
    const settings = vscode.workspace.getConfiguration("waza");
    const value = vscode.workspace.isTrusted ? settings.get<string>("interpreter") : settings.inspect<string>("interpreter")?.globalValue;
    return typeof value === "string" ? value.trim() : "";
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
