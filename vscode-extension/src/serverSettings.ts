/** The settings that the server gets: at its start, and while it runs whenever one of them changes. */

import * as vscode from "vscode";
import { runOptions, type RunOptions } from "./runSettings";

interface ServerSettings {
    readonly severity: object;
    readonly live: string;
    readonly run: RunOptions;
    /** Those of each folder in a window of several, by its URI. */
    readonly runByFolder: Readonly<Record<string, RunOptions>>;
    readonly lens: object;
    readonly hints: object;
}

/** All of them, as `initializationOptions` has them; see docs/protocol.md. */
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

/** Those that depend on which folders are open. */
export function folderSettings(): Record<string, unknown> {
    return { runByFolder: serverSettings().runByFolder };
}

/** Those that a change concerns, as `workspace/didChangeConfiguration` has them. */
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

/** The folders of a window that may have several; in another its settings are those of its folder. */
function foldersWithSettings(): vscode.Uri[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    return folders.length > 1 || vscode.workspace.workspaceFile !== undefined ? folders.map(({ uri }) => uri) : [];
}

function runOptionsOf(folder: vscode.Uri): RunOptions {
    const settings = vscode.workspace.getConfiguration("waza.run", folder);
    return runOptions((name) => settings.get(name));
}

/** Returns the kinds of lenses or hints that are shown; the old setting counts as well. */
function enabledKinds(settings: vscode.WorkspaceConfiguration, name: string, old: string): object {
    const kinds = settings.get<Record<string, boolean>>(name, {});
    return { ...kinds, enable: kinds.enable !== false && settings.get(`${old}.enable`, true) };
}
