/** Shows runs in the status bar, first the progress, then the result; failures also get a message with buttons. */

import * as vscode from "vscode";
import { completeStep } from "./contextKeys";
import { FailedItems } from "./failedItems";
import { kindOf } from "./itemIds";
import { plain } from "./messages";
import { reasonFirst } from "./reasons";
import type { Regraded } from "./regrades";
import { loginRemedies } from "./remedies";
import type { RunBatch, RunOutcome } from "./runBatch";
import type { RunEvent } from "./runEvents";
import { clock, RunProgress, shortened } from "./runProgress";
import type { RunRequest } from "./runs";
import { titleInWorkspace } from "./runTitles";
import type { RunView } from "./runViews";

const REDRAW_MILLISECONDS = 1_000;
const SHOWN_MILLISECONDS = 60_000;
const MARKS: Readonly<Record<string, string>> = { passed: "$(pass)", failed: "$(error)", unjudged: "$(circle-slash)" };
const OTHER_MARK = "$(warning)";
/** Labels of the icons for screen readers. */
const SPOKEN: Readonly<Record<string, string>> = { pass: "passed", error: "failed", warning: "warning", "sync~spin": "running" };
/** Verdicts of runs with failures to look at. */
const WITH_FAILURES: ReadonlySet<string> = new Set(["failed", "errored", "broken"]);
/** The verdict of runs that were cancelled, or whose engine was killed. */
const INTERRUPTED = "interrupted";
const SHOW_RESULTS = "testing.showMostRecentOutput";

/** Each active run has an entry; the entry of a finished run stays for a minute, at most until the next run begins. */
export class RunStatusBar implements vscode.Disposable {
    private readonly entries = new Set<Entry>();
    /** The failed items of runs whose message may still be open, since only the user can close it. */
    private readonly reportedFailures = new Set<FailedItems>();

    /** @param runAgain starts runs one after the other */
    constructor(private readonly runAgain: (requests: readonly RunRequest[]) => void) {}

    viewOf(request: RunRequest, batch?: RunBatch): RunView {
        this.removeEnded();
        return new RunStatus(request, this.begin(), this.reportedFailures, this.runAgain, batch);
    }

    /** Shows the result of a batch of runs in one entry and one message. */
    showBatch(batch: RunBatch): void {
        if (batch.isEmpty) {
            return;
        }
        this.removeEnded();
        const words = `${batch.counts} · ${clock(Date.now() - batch.startedAt)}`;
        const entry = this.begin();
        const tooltip = [...batch.lines, "", "Show the results"].join("\n");
        entry.show(`${MARKS[batch.verdict] ?? OTHER_MARK} ${words}`, tooltip, SHOW_RESULTS);
        entry.end();
        const { failures } = batch;
        if (failures.length > 0) {
            void offerFailures(`${words} · ${batch.failureSummary}`, failures, this.runAgain);
        }
    }

    /** Shows the verdict of a re-grade; for several records only the marks show it. */
    showRegraded({ id, events }: Regraded): void {
        events.filter((event) => kindOf(id) !== "grader" || event.with_recorded === true).forEach((event) => {
            updateFailures(this.reportedFailures, event);
        });
        const [conclusion, ...others] = events.filter(({ kind }) => kind === "ended").map((event) => event.conclusion);
        if (conclusion?.words === undefined || others.length > 0) {
            return;
        }
        this.removeEnded();
        const text = `↻ ${titled(id)}: ${withoutIcons(conclusion.words)}`;
        const shown = shortened(text);
        const tooltip = [...(shown === text ? [] : [text]), "Graded again, without the agent; show the results"].join("\n\n");
        const entry = this.begin();
        entry.show(`${MARKS[conclusion.verdict] ?? OTHER_MARK} ${shown}`, tooltip, SHOW_RESULTS);
        entry.end();
    }

    /** Shows that a run was interrupted by a reload of the window. */
    showInterrupted(id: string): void {
        const entry = this.begin();
        entry.show(`$(warning) ${titled(id)}: interrupted; finished tasks were saved`, "Show the log", "waza.showLog");
        entry.end();
    }

    dispose(): void {
        this.entries.forEach((entry) => {
            entry.dispose();
        });
    }

    private removeEnded(): void {
        this.entries.forEach((entry) => {
            if (entry.hasEnded) {
                entry.dispose();
            }
        });
    }

    private begin(): Entry {
        const taken = new Set([...this.entries].map(({ number }) => number));
        let number = 1;
        while (taken.has(number)) {
            number += 1;
        }
        const entry = new Entry(number, () => this.entries.delete(entry));
        this.entries.add(entry);
        return entry;
    }
}

/** An entry with the lowest free number: VS Code remembers by this id which entries the user has hidden. */
class Entry implements vscode.Disposable {
    private readonly item: vscode.StatusBarItem;
    private hiding: NodeJS.Timeout | undefined;
    hasEnded = false;

    constructor(
        readonly number: number,
        private readonly onGone: () => void,
    ) {
        const suffix = number === 1 ? "" : `.${String(number)}`;
        this.item = vscode.window.createStatusBarItem(`waza.run${suffix}`, vscode.StatusBarAlignment.Left, -number);
        this.item.name = number === 1 ? "Waza Run" : `Waza Run ${String(number)}`;
    }

    show(text: string, tooltip: string, command: string): void {
        this.item.text = text;
        this.item.accessibilityInformation = { label: `Waza: ${spokenText(text)}` };
        this.item.tooltip = tooltip;
        this.item.command = command;
        this.item.show();
    }

    end(): void {
        this.hasEnded = true;
        this.hiding = setTimeout(() => {
            this.dispose();
        }, SHOWN_MILLISECONDS);
    }

    dispose(): void {
        clearTimeout(this.hiding);
        this.item.dispose();
        this.onGone();
    }
}

class RunStatus implements RunView {
    private readonly state = new RunProgress();
    private readonly failed: FailedItems;
    private readonly id: string;
    private readonly startedAt = Date.now();
    private readonly redrawing: NodeJS.Timeout;
    hasReported = false;

    constructor(
        request: RunRequest,
        private readonly entry: Entry,
        private readonly reportedFailures: Set<FailedItems>,
        private readonly runAgain: (requests: readonly RunRequest[]) => void,
        private readonly batch: RunBatch | undefined,
    ) {
        this.id = request.id;
        this.failed = new FailedItems(request);
        this.draw();
        this.redrawing = setInterval(() => {
            this.draw();
        }, REDRAW_MILLISECONDS);
    }

    take(event: RunEvent): void {
        this.state.take(event);
        this.failed.take(event);
        if (kindOf(this.id) !== "grader") {
            // A run of one grader does not decide the verdict of its task.
            updateFailures(this.reportedFailures, event);
        }
        if (["waits", "run_started", "started", "graded"].includes(event.kind)) {
            this.draw();
        }
    }

    end(problem: string | undefined): void {
        clearInterval(this.redrawing);
        const verdict = this.state.end?.conclusion?.verdict ?? (problem === undefined ? INTERRUPTED : "errored");
        const words = this.words(verdict, problem);
        // A run whose results could not be written has not passed.
        const mark = problem === undefined || verdict === "failed" ? (MARKS[verdict] ?? OTHER_MARK) : OTHER_MARK;
        const text = withoutIcons(`${titleInWorkspace(this.id)}: ${words}`);
        const shown = shortened(text);
        const tooltip = shown === text ? "Show the results" : `${text}\n\nShow the results`;
        this.entry.show(`${mark} ${shown}`, tooltip, SHOW_RESULTS);
        this.entry.end();
        // A run that reached a limit, or whose results could not be written, may also have failures.
        const leavesFailures = problem === undefined ? WITH_FAILURES.has(verdict) : this.failed.hasAny && verdict !== INTERRUPTED;
        this.hasReported = this.state.end !== undefined && leavesFailures;
        if (this.hasReported) {
            this.reportedFailures.add(this.failed);
        }
        const outcome: RunOutcome = {
            id: this.id,
            title: titleInWorkspace(this.id),
            verdict: problem !== undefined && MARKS[verdict] !== undefined && verdict !== "failed" ? "errored" : verdict,
            words,
            leavesFailures: this.hasReported,
            hasFailedAnswer: verdict === "failed" || (this.state.end?.conclusion?.tasks?.["failed"] ?? 0) > 0,
            hasResults: typeof this.state.end?.results_file === "string",
            retryRequests: () => this.failed.requests(),
            haveAllPassed: () => this.failed.haveAllPassed,
        };
        if (this.batch !== undefined) {
            this.batch.take(outcome);
        } else if (this.hasReported) {
            void offerFailures(`${outcome.title}: ${words}`, [outcome], this.runAgain);
        }
    }

    /** Returns the summary of the run, with an error that the engine's conclusion does not include, such as results that could not be written. */
    private words(verdict: string, problem: string | undefined): string {
        if (this.state.end === undefined) {
            return reasonFirst(problem ?? "interrupted");
        }
        const words = this.state.summary(Date.now() - this.startedAt);
        return problem === undefined || MARKS[verdict] === undefined ? words : `${words} · ${reasonFirst(problem)}`;
    }

    private draw(): void {
        const words = withoutIcons(this.state.progress(Date.now() - this.startedAt));
        this.entry.show(`$(sync~spin) ${titled(this.id)} ${words}`, "A Waza run is active; click to show it", "workbench.view.testing.focus");
    }
}

/** Shows a message about failures with buttons; "Open Result" is offered for a single run only. */
async function offerFailures(message: string, failures: readonly RunOutcome[], runAgain: (requests: readonly RunRequest[]) => void): Promise<void> {
    const hasFailedAnswer = failures.some((outcome) => outcome.hasFailedAnswer);
    const show = hasFailedAnswer ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
    const remedies = hasFailedAnswer ? [] : loginRemedies(failures.map(({ words }) => words).join("\n"));
    const [only] = failures.length === 1 ? failures : [];
    const canRerun = failures.some((outcome) => outcome.retryRequests().length > 0);
    const buttons = ["Show Failures", ...(canRerun ? ["Re-run Failed"] : []), ...(remedies.length > 0 || only?.hasResults !== true ? [] : ["Open Result"])];
    const chosen = await show(plain(message), ...remedies.map(({ title }) => title), ...buttons);
    const remedy = remedies.find(({ title }) => title === chosen);
    const requests = failures.flatMap((outcome) => outcome.retryRequests());
    const haveAllPassed = requests.length === 0 && failures.some((outcome) => outcome.haveAllPassed());
    if (haveAllPassed && (chosen === "Show Failures" || chosen === "Re-run Failed")) {
        void vscode.window.showInformationMessage("Waza: everything that failed in this run has passed since.");
    } else if (remedy !== undefined) {
        await vscode.commands.executeCommand(remedy.command, ...(remedy.argument === undefined ? [] : [remedy.argument]));
    } else if (chosen === "Show Failures") {
        void completeStep.resultRead();
        await vscode.commands.executeCommand("workbench.view.testing.focus");
        await vscode.commands.executeCommand("testing.openOutputPeek"); // F8 continues from there
    } else if (chosen === "Re-run Failed") {
        runAgain(requests);
    } else if (chosen !== undefined && only !== undefined) {
        await vscode.commands.executeCommand("waza.openResult", only.id);
    }
}

/** Removes items that pass now from the failed items of earlier runs. */
function updateFailures(reportedFailures: Set<FailedItems>, event: RunEvent): void {
    reportedFailures.forEach((earlier) => {
        earlier.takeLaterEvent(event);
        if (!earlier.hasAny) {
            reportedFailures.delete(earlier);
        }
    });
}

function titled(id: string): string {
    return withoutIcons(titleInWorkspace(id));
}

/** Replaces the icon of a status bar text by a word. */
function spokenText(text: string): string {
    return text.replace(/^\$\(([\w~-]+)\)/u, (_, icon: string) => `${SPOKEN[icon] ?? ""},`).replace(/^,/u, "").trim();
}

/** Escapes icons: names of suites and tasks may contain `$(…)`. */
function withoutIcons(text: string): string {
    return text.replaceAll("$(", "$ (");
}
