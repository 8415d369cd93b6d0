/** Shows a run as a test run of the Test Explorer: verdicts, messages at their lines, output. */

import * as vscode from "vscode";
import { kindOf, suiteOf } from "../itemIds";
import { engineOptionsToSettings, isReportedBy, optionsToSettings, reasonFirst, splitLocation } from "../reasons";
import type { RunEvent } from "../runEvents";
import type { RunView } from "../runViews";
import { type Report, type ReportMessage, RunReports } from "./reports";
import { type Failure, rangeOf, type TestTree } from "./tree";

export class TestRunView implements RunView {
    /** The verdicts of this run, by id. */
    private readonly verdicts = new Map<string, Report["verdict"]>();
    private hasBegun = false;
    private ended: RunEvent | undefined;

    /**
     * @param onEnd called after the last report; ends a test run that belongs to this run only
     * @param plannedBelow returns the items below an item that the run includes: they are skipped if the run does not begin
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
            // The answer of this trial follows.
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
                    this.run.skipped(each); // they must not keep the icon of an older run
                });
            }
        }
        this.restoreFailures();
        this.onEnd();
    }

    /**
     * Reports parents as failed if other children failed before: if only a part of a parent runs, VS Code shows the verdict of this
     * part as that of the parent in the gutter.
     */
    private restoreFailures(): void {
        const visited = new Set(this.verdicts.keys());
        for (const id of this.verdicts.keys()) {
            for (let parent = this.tree.item(id).parent; parent !== undefined && !visited.has(parent.id); parent = parent.parent) {
                visited.add(parent.id);
                const failure = this.tree.failureOf(parent.id) ?? this.failureElsewhere(parent);
                if (failure !== undefined) {
                    this.fail(parent, failure);
                }
            }
        }
    }

    /** Returns the failure of an item with children that this run did not include and that did not pass in their last run. */
    private failureElsewhere(item: vscode.TestItem): Failure | undefined {
        const labels = this.tree.failingBelow(item, (id) => this.verdicts.has(id));
        if (labels.length === 0) {
            return undefined;
        }
        const [first, more] = [labels[0] ?? "", labels.length - 1];
        const others = more === 0 ? "" : ` and ${String(more)} more`;
        const text = `Not run now: \`${first}\`${others} did not pass in the last run.`;
        // As output and not as a message, which VS Code would show over the line of the item.
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
        const testMessages = (messages ?? []).map((message) => testMessageOf(message, item));
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

    /** Marks graders without a verdict as skipped, so that they do not keep the icon of an older run. */
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

/** Returns the message why the run did not start, at the line that it names. */
function startFailureMessage(problem: string): vscode.TestMessage {
    const { words, place } = splitLocation(problem);
    const message = new vscode.TestMessage(words);
    if (place?.line !== undefined) {
        message.location = new vscode.Location(vscode.Uri.file(place.file), new vscode.Position(place.line - 1, 0));
    }
    return message;
}

/** Returns the labels of the task and the trial of a failure that is shown in the eval file. */
function taskLabels({ location }: ReportMessage, item: vscode.TestItem): string[] {
    const labels: string[] = [];
    if (location !== undefined && kindOf(item.id) === "grader" && vscode.Uri.parse(location.uri).fsPath === suiteOf(item.id)) {
        for (let parent = item.parent; parent?.parent !== undefined; parent = parent.parent) {
            labels.unshift(parent.label);
        }
    }
    return labels;
}

function testMessageOf(report: ReportMessage, item: vscode.TestItem): vscode.TestMessage {
    const { text, location, expected, actual } = report;
    const shown = [reasonFirst(text), ...taskLabels(report, item)].join(" · ");
    // Without two strings VS Code would show "!= hello" at the line instead of the reason.
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

/** Escapes control characters, because answers of agents may contain terminal sequences. */
function terminalLines(text: string): string {
    const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu, (character) =>
        character === "\r" ? "" : `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
    );
    return `${shown.replaceAll("\n", "\r\n")}\r\n`;
}
