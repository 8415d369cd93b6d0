/** The settings that the server is told: at its start, and while it runs whenever one of them changes. */

import * as vscode from "vscode";
import { runOptions, type RunOptions } from "./runSettings";

interface ToldSettings {
    readonly severity: object;
    readonly live: string;
    readonly run: RunOptions;
    readonly lens: object;
    readonly hints: object;
}

/** All of them, as `initializationOptions` has them; see docs/protocol.md. */
export function toldSettings(): ToldSettings {
    const settings = vscode.workspace.getConfiguration("waza");
    return {
        severity: settings.get("diagnostics.severity", {}),
        live: settings.get("live.enable", "on"),
        run: runOptions((name) => settings.get(`run.${name}`)),
        lens: shown(settings, "lens", "codeLens"),
        hints: shown(settings, "hints", "inlayHints"),
    };
}

/** Those that a change concerns, as `workspace/didChangeConfiguration` has them. */
export function changedSettings(change: vscode.ConfigurationChangeEvent): Record<string, unknown> {
    const now = toldSettings();
    const concerned = (...names: string[]) => names.some((name) => change.affectsConfiguration(`waza.${name}`));
    return {
        ...(concerned("diagnostics") ? { diagnostics: { severity: now.severity } } : {}),
        ...(concerned("live") ? { live: { enable: now.live } } : {}),
        ...(concerned("run") ? { run: now.run } : {}),
        ...(concerned("lens", "codeLens") ? { lens: now.lens } : {}),
        ...(concerned("hints", "inlayHints") ? { hints: now.hints } : {}),
    };
}

/** Which kinds of lenses or hints are shown; the switch of old counts as well. */
function shown(settings: vscode.WorkspaceConfiguration, name: string, old: string): object {
    const kinds = settings.get<Record<string, boolean>>(name, {});
    return { ...kinds, enable: kinds.enable !== false && settings.get(`${old}.enable`, true) };
}
