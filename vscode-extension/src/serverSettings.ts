/** The settings that the server gets at its start and whenever one of them changes. */

import * as vscode from "vscode";
import { runOptions, type RunOptions } from "./runSettings";

interface ServerSettings {
    readonly severity: object;
    readonly live: string;
    readonly run: RunOptions;
    /** The run options of each folder in a multi-root workspace, by its URI. */
    readonly runByFolder: Readonly<Record<string, RunOptions>>;
    readonly lens: object;
    readonly hints: object;
}

/** Returns all settings, in the format of `initializationOptions`; see docs/protocol.md. */
export function serverSettings(): ServerSettings {
    const settings = vscode.workspace.getConfiguration("waza");
    return {
        severity: settings.get("diagnostics.severity", {}),
        live: settings.get("live.enable", "on"),
        run: runOptions((name) => settings.get(`run.${name}`)),
        runByFolder: Object.fromEntries(foldersWithSettings().map((folder) => [folder.toString(), runOptionsOf(folder)])),
        lens: enabledKinds(settings, "lens", "codeLens"),
        hints: enabledKinds(settings, "hints", "inlayHints"),
    };
}

/** Returns the settings that depend on the open folders. */
export function folderSettings(): Record<string, unknown> {
    return { runByFolder: serverSettings().runByFolder };
}

/** Returns the changed settings, in the format of `workspace/didChangeConfiguration`. */
export function changedSettings(change: vscode.ConfigurationChangeEvent): Record<string, unknown> {
    const now = serverSettings();
    const isAffected = (...names: string[]) => names.some((name) => change.affectsConfiguration(`waza.${name}`));
    return {
        ...(isAffected("diagnostics") ? { diagnostics: { severity: now.severity } } : {}),
        ...(isAffected("live") ? { live: { enable: now.live } } : {}),
        ...(isAffected("run") ? { run: now.run, runByFolder: now.runByFolder } : {}),
        ...(isAffected("lens", "codeLens") ? { lens: now.lens } : {}),
        ...(isAffected("hints", "inlayHints") ? { hints: now.hints } : {}),
    };
}

/** Returns the folders of a multi-root workspace; in any other the settings of the window are those of the folder. */
function foldersWithSettings(): vscode.Uri[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    return folders.length > 1 || vscode.workspace.workspaceFile !== undefined ? folders.map(({ uri }) => uri) : [];
}

function runOptionsOf(folder: vscode.Uri): RunOptions {
    const settings = vscode.workspace.getConfiguration("waza.run", folder);
    return runOptions((name) => settings.get(name));
}

/** Returns which kinds of lenses or hints are shown; the deprecated setting also counts. */
function enabledKinds(settings: vscode.WorkspaceConfiguration, name: string, old: string): object {
    const kinds = settings.get<Record<string, boolean>>(name, {});
    return { ...kinds, enable: kinds.enable !== false && settings.get(`${old}.enable`, true) };
}
