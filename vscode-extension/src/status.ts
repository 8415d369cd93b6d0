/** The entry under `{}` in the status bar of a suite file: which server runs, from where, or why none does. */

import * as vscode from "vscode";
import type { FoundServer } from "./interpreters";
import { NAMED_EVALS_GLOB, SUITE_FILE_GLOB } from "./suiteFiles";

export class Status implements vscode.Disposable {
    private readonly item = vscode.languages.createLanguageStatusItem("waza.status", [
        { scheme: "file", language: "yaml", pattern: SUITE_FILE_GLOB },
        { scheme: "file", language: "yaml", pattern: "**/tasks/**" },
        { scheme: "file", pattern: NAMED_EVALS_GLOB },
    ]);

    constructor() {
        this.item.name = "Waza";
        this.item.text = "Waza";
        this.item.command = { command: "waza.showLog", title: "Show Log" };
    }

    starting(): void {
        this.item.busy = true;
        this.item.severity = vscode.LanguageStatusSeverity.Information;
        this.item.detail = "starting";
    }

    running(server: FoundServer): void {
        this.item.busy = false;
        this.item.severity = vscode.LanguageStatusSeverity.Information;
        this.item.detail = `${server.version} · ${server.interpreter.command}`;
        this.item.command = { command: "waza.showLog", title: "Show Log" };
    }

    /** Says why no server runs, beside the one command that helps. */
    failed(reason: string, command = "waza.showLog", title = "Show Log"): void {
        this.item.busy = false;
        this.item.severity = vscode.LanguageStatusSeverity.Error;
        this.item.detail = reason;
        this.item.command = { command, title };
    }

    dispose(): void {
        this.item.dispose();
    }
}
