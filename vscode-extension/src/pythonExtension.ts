/** Returns the environment that is selected in one of Microsoft's Python extensions, which are optional. */

import * as vscode from "vscode";
import type { Interpreter } from "./interpreters";

/** The part of the Python Environments extension that is used here; it replaces the part of the Python extension. */
interface EnvironmentsApi {
    getEnvironment(
        scope: vscode.Uri | undefined,
    ): Promise<{ readonly execInfo?: { readonly run: { readonly executable: string; readonly args?: readonly string[] } } } | undefined>;
    readonly onDidChangeEnvironment: vscode.Event<unknown>;
}

/** The part of the Python extension that is used here. */
interface PythonExtensionApi {
    readonly environments?: {
        getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
        resolveEnvironment(environment: {
            readonly path: string;
        }): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
        readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
    };
}

const ENVIRONMENTS_EXTENSION = "ms-python.vscode-python-envs";
const PYTHON_EXTENSION = "ms-python.python";

/** Returns the interpreter that is selected for the first workspace folder. */
export async function selectedInPythonExtension(): Promise<Interpreter | undefined> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    try {
        const selected = await (await environmentsApi())?.getEnvironment(folder);
        if (selected?.execInfo !== undefined) {
            const { executable, args } = selected.execInfo.run;
            return { command: executable, args: [...(args ?? [])], origin: "the Python extension" };
        }
    } catch {
        // Ask the older extension.
    }
    const environments = (await pythonApi())?.environments;
    if (environments === undefined) {
        return undefined;
    }
    try {
        const active = environments.getActiveEnvironmentPath(folder);
        const resolved = await environments.resolveEnvironment(active);
        const command = resolved?.executable.uri?.fsPath;
        return command === undefined ? undefined : { command, args: [], origin: "the Python extension" };
    } catch {
        return undefined; // the other candidates are tried
    }
}

/** Calls `listener` whenever another environment is selected. */
export async function onDidSelectEnvironment(listener: () => void): Promise<vscode.Disposable | undefined> {
    const newer = (await environmentsApi())?.onDidChangeEnvironment;
    return newer === undefined ? (await pythonApi())?.environments?.onDidChangeActiveEnvironmentPath(listener) : newer(listener);
}

const environmentsApi = () => apiOf<EnvironmentsApi>(ENVIRONMENTS_EXTENSION);
const pythonApi = () => apiOf<PythonExtensionApi>(PYTHON_EXTENSION);

/** Activates an extension in a trusted workspace only, because it starts the environments that it finds there. */
async function apiOf<Api>(identifier: string): Promise<Api | undefined> {
    if (!vscode.workspace.isTrusted) {
        return undefined;
    }
    try {
        return await vscode.extensions.getExtension<Api | undefined>(identifier)?.activate();
    } catch {
        return undefined;
    }
}
