/**
 * The output channel "Waza Trace", controlled by the setting `waza.trace.server`.
 *
 * The language client traces only into a channel whose log level is Trace, and that level cannot be set from code. This
 * channel takes its level from the setting, and appears in the editor only once something is written to it.
 */

import * as vscode from "vscode";

export class TraceChannel implements vscode.LogOutputChannel {
    readonly name = "Waza Trace";
    private readonly levelChanged = new vscode.EventEmitter<vscode.LogLevel>();
    readonly onDidChangeLogLevel = this.levelChanged.event;
    private readonly settings = vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("waza.trace.server")) {
            this.levelChanged.fire(this.logLevel);
        }
    });
    private written: vscode.OutputChannel | undefined;

    get logLevel(): vscode.LogLevel {
        const trace = vscode.workspace.getConfiguration("waza").get<string>("trace.server", "off");
        return trace === "off" ? vscode.LogLevel.Off : vscode.LogLevel.Trace;
    }

    trace(message: string): void {
        this.appendLine(message);
    }

    debug(message: string): void {
        this.appendLine(message);
    }

    info(message: string): void {
        this.appendLine(message);
    }

    warn(message: string): void {
        this.appendLine(message);
    }

    error(error: string | Error): void {
        this.appendLine(String(error));
    }

    append(value: string): void {
        if (this.logLevel !== vscode.LogLevel.Off) {
            this.channel.append(value);
        }
    }

    appendLine(value: string): void {
        this.append(`[${new Date().toISOString()}] ${value}\n`);
    }

    replace(value: string): void {
        this.channel.replace(value);
    }

    clear(): void {
        this.written?.clear();
    }

    show(): void {
        this.channel.show(true);
    }

    hide(): void {
        this.written?.hide();
    }

    dispose(): void {
        this.written?.dispose();
        this.levelChanged.dispose();
        this.settings.dispose();
    }

    private get channel(): vscode.OutputChannel {
        this.written ??= vscode.window.createOutputChannel(this.name);
        return this.written;
    }
}
