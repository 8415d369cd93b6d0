/** One run as a run of the Test Explorer: outcomes, messages at their lines, output. */

import * as vscode from "vscode";
import type { RunView } from "../runViews";
import type { RunEvent } from "../runEvents";
import { kindOf, suiteOf } from "../runnables";
import { optionsToSettings, isReportedBy, engineOptionsToSettings, splitLocation, reasonFirst } from "../runProgress";
import { RunReports, type Report, type ReportMessage } from "./reports";
import { rangeOf, type Failure, type TestTree } from "./tree";

export class TestRunView implements RunView {
    /** The verdicts of this run, by ids. */
    private readonly verdicts = new Map<string, Report["verdict"]>();
    private hasBegun = false;
    private ended: RunEvent | undefined;

    /**
     * @param onEnd called after the last report; ends a test run that belongs to this run only
     * @param plannedBelow what below an item was to be judged: of a run that could not even begin, nothing is known of it
     */
    constructor(
        private readonly tree: TestTree,
        private readonly run: vscode.TestRun,
        private readonly reports: RunReports,
        private readonly target: string,
        private readonly onEnd: () => void,
        private readonly plannedBelow: (item: vscode.TestItem) => readonly vscode.TestItem[] = () => [],
    ) {}

    take(event: RunEvent): void {
        this.hasBegun ||= event.kind === "run_started";
        this.ended = event.kind === "ended" ? event : this.ended;
        if (event.kind === "started" && event.item !== undefined && event.trial !== undefined && event.baseline !== true) {
            // The next output is the answer of this test.
            const trial = event.trial > 1 ? ` · trial ${String(event.trial)}` : "";
            this.run.appendOutput(terminalLines(`▶ ${event.label ?? event.task ?? ""}${trial}`), undefined, this.tree.item(event.item, event.label));
        }
        for (const report of this.reports.of(event)) {
            this.show(report);
        }
    }

    end(problem: string | undefined): void {
        if (problem !== undefined) {
            const item = this.tree.item(this.target);
            // If the engine was killed, the end event has already reported the reason at each interrupted item.
            const isReported = isReportedBy(problem, this.ended);
            if (!isReported) {
                this.run.appendOutput(terminalLines(optionsToSettings(problem)), undefined, item);
            }
            if (!isReported || this.verdicts.get(item.id) !== "errored") {
                this.run.errored(item, startFailureMessage(problem));
            }
            if (!this.hasBegun) {
                this.plannedBelow(item).forEach((each) => {
                    this.run.skipped(each); // an older result would look like one of this run
                });
            }
        }
        this.restoreFailures();
        this.onEnd();
    }

    /**
     * Reports parents that did not pass as failed: VS Code gives a parent of which only a part ran the verdict of this part
     * in the gutter, whatever its other children came to before.
     */
    private restoreFailures(): void {
        const visited = new Set(this.verdicts.keys());
        for (const id of this.verdicts.keys()) {
            for (let around = this.tree.item(id).parent; around !== undefined && !visited.has(around.id); around = around.parent) {
                visited.add(around.id);
                const failure = this.tree.failureOf(around.id) ?? this.failureElsewhere(around);
                if (failure !== undefined) {
                    this.fail(around, failure);
                }
            }
        }
    }

    /** Returns the failure of an item below which something that this run did not touch did not pass when it last ran. */
    private failureElsewhere(item: vscode.TestItem): Failure | undefined {
        const labels = this.tree.failingBelow(item, (id) => this.verdicts.has(id));
        if (labels.length === 0) {
            return undefined;
        }
        const [first, more] = [labels[0] ?? "", labels.length - 1];
        const others = more === 0 ? "" : ` and ${String(more)} more`;
        const text = `Not run now: \`${first}\`${others} did not pass in the last run.`;
        // Not as a message: VS Code prints each of them over a line, without a location over that of the item.
        this.run.appendOutput(terminalLines(text), undefined, item);
        return { verdict: "failed", messages: [], duration: undefined };
    }

    private fail(item: vscode.TestItem, { verdict, messages, duration }: Failure): void {
        this.run[verdict](item, messages, duration);
    }

    private show(report: Report): void {
        const item = report.item === undefined ? undefined : this.tree.item(report.item, report.label, report.location);
        if (report.kind === "output") {
            this.run.appendOutput(terminalLines(engineOptionsToSettings(report.text ?? "")), undefined, item);
        } else if (item !== undefined) {
            if (report.kind === "enqueued") {
                this.tree.forgetTrials(item);
                this.run.enqueued(item);
            } else {
                this.tree.clearStale(item);
                if (report.kind === "started") {
                    this.run.started(item);
                } else {
                    this.conclude(item, report);
                }
            }
        }
    }

    private conclude(item: vscode.TestItem, { verdict, messages, duration }: Report): void {
        const testMessages = (messages ?? []).map((message) => messageOf(message, item));
        this.verdicts.set(item.id, verdict);
        if (verdict === "errored" || verdict === "skipped") {
            this.skipUngraded(item);
        }
        if (verdict === "failed" || verdict === "errored") {
            const failure = { verdict, messages: testMessages, duration };
            this.tree.failures.set(item.id, failure);
            this.fail(item, failure);
            return;
        }
        this.tree.failures.delete(item.id);
        if (verdict === "passed") {
            this.run.passed(item, duration);
        } else {
            this.run.skipped(item);
        }
    }

    /** Marks graders without a verdict as skipped: an older result would look like one of this run. */
    private skipUngraded(item: vscode.TestItem): void {
        if (kindOf(item.id) === "task") {
            item.children.forEach((grader) => {
                if (!this.verdicts.has(grader.id)) {
                    this.run.skipped(grader);
                }
            });
        }
    }
}

/** Why nothing was run: at the line that it speaks of, where it names one. */
function startFailureMessage(problem: string): vscode.TestMessage {
    const { words, place } = splitLocation(problem);
    const message = new vscode.TestMessage(words);
    if (place?.line !== undefined) {
        message.location = new vscode.Location(vscode.Uri.file(place.file), new vscode.Position(place.line - 1, 0));
    }
    return message;
}

/** Returns the task, and the trial if there are several, of a failure that is shown in the suite's file. */
function taskLabels({ location }: ReportMessage, item: vscode.TestItem): string[] {
    const named: string[] = [];
    if (location !== undefined && kindOf(item.id) === "grader" && vscode.Uri.parse(location.uri).fsPath === suiteOf(item.id)) {
        for (let around = item.parent; around?.parent !== undefined; around = around.parent) {
            named.unshift(around.label);
        }
    }
    return named;
}

function messageOf(report: ReportMessage, item: vscode.TestItem): vscode.TestMessage {
    const { text, location, expected, actual } = report;
    const shown = [reasonFirst(text), ...taskLabels(report, item)].join(" · ");
    // Beside nothing there is nothing to compare: VS Code would write "!= hello" at the line instead of the reason.
    const compared = (expected ?? "").trim() !== "" && (actual ?? "").trim() !== "";
    const message = compared ? vscode.TestMessage.diff(shown, expected ?? "", actual ?? "") : new vscode.TestMessage(shown);
    if (location !== undefined) {
        message.location = new vscode.Location(vscode.Uri.parse(location.uri), rangeOf(location.range));
    } else if (item.uri !== undefined && item.range !== undefined) {
        message.location = new vscode.Location(item.uri, item.range);
    }
    message.contextValue = "waza.failure";
    return message;
}

/** Escapes control characters: answers of agents may contain terminal commands. */
function terminalLines(text: string): string {
    const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu, (character) =>
        character === "\r" ? "" : `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
    );
    return `${shown.replaceAll("\n", "\r\n")}\r\n`;
}
