/** The language status item (`{}` in the status bar) of suite files: the server that runs, or why none does. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { FoundServer } from "./interpreters";
import { NAMED_EVALS_GLOB, SUITE_FILE_GLOB } from "./suiteFiles";

const NAMED_FILES = [
    { scheme: "file", language: "yaml", pattern: SUITE_FILE_GLOB },
    { scheme: "file", language: "yaml", pattern: "**/tasks/**" },
    { scheme: "file", pattern: NAMED_EVALS_GLOB },
];

/** Labels of the kinds of files that the server reports. */
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

    /** Shows the kind of the active file, and the item itself for a file that no pattern matches. */
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

    /** Shows why no server runs, with the command that helps. */
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
