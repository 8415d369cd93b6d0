/** A run in the status bar: how far it is, then how it ended; a message when something is to be done about it. */

import * as vscode from "vscode";
import { plain } from "./messages";
import type { RunEvent } from "./runEvents";
import { titleOf } from "./runnables";
import type { RunView } from "./runViews";
import { RunState } from "./runWords";

const REDRAW_MILLISECONDS = 1_000;
const SHOWN_MILLISECONDS = 60_000;
const MARKS: Readonly<Record<string, string>> = { passed: "$(pass)", failed: "$(error)", unjudged: "$(circle-slash)" };

/** The one entry in the status bar: that of the newest run. */
export class RunStatusBar implements vscode.Disposable {
    private readonly item = vscode.window.createStatusBarItem("waza.run", vscode.StatusBarAlignment.Left, 0);
    private hiding: NodeJS.Timeout | undefined;

    constructor() {
        this.item.name = "Waza Run";
    }

    viewOf(id: string): RunView {
        return new RunStatus(id, this);
    }

    show(text: string, tooltip: string, command: string): void {
        clearTimeout(this.hiding);
        this.item.text = text;
        this.item.tooltip = tooltip;
        this.item.command = command;
        this.item.show();
    }

    /** Says of a run that the window did not see its end. */
    tellInterrupted(id: string): void {
        this.show(`$(warning) ${titled(id)}: interrupted; what was finished is kept`, "Show the log", "waza.showLog");
        this.hideLater();
    }

    hideLater(): void {
        this.hiding = setTimeout(() => {
            this.item.hide();
        }, SHOWN_MILLISECONDS);
    }

    dispose(): void {
        clearTimeout(this.hiding);
        this.item.dispose();
    }
}

class RunStatus implements RunView {
    private readonly state = new RunState();
    private readonly begun = Date.now();
    private readonly redrawing: NodeJS.Timeout;

    constructor(
        private readonly id: string,
        private readonly bar: RunStatusBar,
    ) {
        this.draw();
        this.redrawing = setInterval(() => {
            this.draw();
        }, REDRAW_MILLISECONDS);
    }

    take(event: RunEvent): void {
        this.state.take(event);
        if (event.kind === "started" || event.kind === "graded") {
            this.draw();
        }
    }

    end(problem: string | undefined): void {
        clearInterval(this.redrawing);
        const verdict = this.state.end?.conclusion?.verdict ?? (problem === undefined ? "interrupted" : "errored");
        const words = this.state.end === undefined ? (problem ?? "interrupted") : this.state.ending(Date.now() - this.begun);
        const mark = MARKS[verdict] ?? "$(warning)";
        this.bar.show(`${mark} ${titled(this.id)}: ${withoutIcons(words)}`, "Show the results", "testing.showMostRecentOutput");
        this.bar.hideLater();
        if (this.state.end !== undefined && problem === undefined && (verdict === "failed" || verdict === "errored")) {
            void offerFailures(this.id, words, verdict);
        }
    }

    private draw(): void {
        const words = withoutIcons(this.state.progress(Date.now() - this.begun));
        this.bar.show(`$(sync~spin) ${titled(this.id)} ${words}`, "A Waza run goes on; click to see it", "workbench.view.testing.focus");
    }
}

async function offerFailures(id: string, words: string, verdict: string): Promise<void> {
    const message = `${titleOf(id)}: ${words}`;
    const tell = verdict === "failed" ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
    const chosen = await tell(plain(message), "Show Failures", "Re-run Failed", "Open Result");
    if (chosen === "Show Failures") {
        await vscode.commands.executeCommand("workbench.view.testing.focus");
        await vscode.commands.executeCommand("testing.openOutputPeek"); // from there F8 goes on
    } else if (chosen === "Re-run Failed") {
        await vscode.commands.executeCommand("testing.reRunFailTests");
    } else if (chosen !== undefined) {
        await vscode.commands.executeCommand("waza.openResult", id);
    }
}

function titled(id: string): string {
    return withoutIcons(titleOf(id));
}

/** Names may look like icons of the status bar. */
function withoutIcons(text: string): string {
    return text.replaceAll("$(", "$ (");
}
