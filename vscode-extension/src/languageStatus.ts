/** The entry under `{}` in the status bar of a suite file: which server runs, from where, or why none does. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { FoundServer } from "./interpreters";
import { NAMED_EVALS_GLOB, SUITE_FILE_GLOB } from "./suiteFiles";

const NAMED_FILES = [
    { scheme: "file", language: "yaml", pattern: SUITE_FILE_GLOB },
    { scheme: "file", language: "yaml", pattern: "**/tasks/**" },
    { scheme: "file", pattern: NAMED_EVALS_GLOB },
];

/** The kinds of files, as the server calls them, in words. */
const KINDS: Readonly<Record<string, string>> = {
    eval: "suite",
    task: "task",
    trigger_tests: "trigger tests",
    project_config: "settings",
    skill: "skill",
    evals_json: "evals of a skill",
    trigger_list: "trigger list",
    vally_eval: "Vally suite",
    vally_project: "Vally project",
    prompts: "prompts",
    captures: "captures",
    trials: "trials",
    adapter: "adapter of an agent",
};

export class LanguageStatus implements vscode.Disposable {
    private readonly item = vscode.languages.createLanguageStatusItem("waza.status", NAMED_FILES);

    constructor() {
        this.item.name = "Waza";
        this.item.text = "Waza";
        this.item.command = { command: "waza.showLog", title: "Show Log" };
    }

    /** Names the kind of the active file, also of one whose name does not say it. */
    showKind({ uri }: vscode.TextDocument, kind: string | undefined): void {
        const word = KINDS[kind ?? ""];
        this.item.text = word === undefined ? "Waza" : `Waza: ${word}`;
        const file = new vscode.RelativePattern(vscode.Uri.joinPath(uri, ".."), path.basename(uri.fsPath));
        this.item.selector = word === undefined ? NAMED_FILES : [...NAMED_FILES, { scheme: "file", pattern: file }];
    }

    showStarting(): void {
        this.item.busy = true;
        this.item.severity = vscode.LanguageStatusSeverity.Information;
        this.item.detail = "starting";
    }

    showRunning(server: FoundServer): void {
        this.item.busy = false;
        this.item.severity = vscode.LanguageStatusSeverity.Information;
        this.item.detail = `${server.version} · ${server.interpreter.command}`;
        this.item.command = { command: "waza.showLog", title: "Show Log" };
    }

    /** Says why no server runs, beside the one command that helps. */
    showFailure(reason: string, command = "waza.showLog", title = "Show Log"): void {
        this.item.busy = false;
        this.item.severity = vscode.LanguageStatusSeverity.Error;
        this.item.detail = reason;
        this.item.command = { command, title };
    }

    dispose(): void {
        this.item.dispose();
    }
}
