/** The environment selected in Microsoft's Python extension, when it is installed; nothing here depends on it. */

import * as vscode from "vscode";
import type { Interpreter } from "./interpreters";

/** The part of that extension's public interface that is used here. */
interface PythonExtensionApi {
    readonly environments?: {
        getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
        resolveEnvironment(environment: {
            readonly path: string;
        }): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
        readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
    };
}

const PYTHON_EXTENSION = "ms-python.python";

/** The interpreter selected for the first workspace folder. */
export async function selectedInPythonExtension(): Promise<Interpreter | undefined> {
    const environments = (await pythonApi())?.environments;
    if (environments === undefined) {
        return undefined;
    }
    try {
        const active = environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
        const resolved = await environments.resolveEnvironment(active);
        const command = resolved?.executable.uri?.fsPath;
        return command === undefined ? undefined : { command, args: [], origin: "the Python extension" };
    } catch {
        return undefined; // Its selection is a convenience: without it the other candidates are asked.
    }
}

/** Calls `listener` whenever another environment is selected there. */
export async function onDidSelectEnvironment(listener: () => void): Promise<vscode.Disposable | undefined> {
    return (await pythonApi())?.environments?.onDidChangeActiveEnvironmentPath(listener);
}

/** Asked in a trusted workspace alone: the answer makes that extension start the environments that it finds there. */
async function pythonApi(): Promise<PythonExtensionApi | undefined> {
    if (!vscode.workspace.isTrusted) {
        return undefined;
    }
    const extension = vscode.extensions.getExtension<PythonExtensionApi>(PYTHON_EXTENSION);
    try {
        return await extension?.activate();
    } catch {
        return undefined;
    }
}
