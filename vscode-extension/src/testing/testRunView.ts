/** One run as a run of the Test Explorer: outcomes, messages at their lines, output. */

import * as vscode from "vscode";
import type { RunView } from "../runViews";
import type { RunEvent } from "../runEvents";
import { kindOf, suiteOf } from "../runnables";
import { inSettings, isToldBy, ownInSettings, placed, reasonFirst } from "../runWords";
import { RunReports, type Report, type ReportMessage } from "./reports";
import { rangeOf, type Failure, type TestTree } from "./tree";

export class TestRunView implements RunView {
    /** The verdicts of this run, by ids. */
    private readonly concluded = new Map<string, Report["verdict"]>();
    private hasBegun = false;
    private ended: RunEvent | undefined;

    /**
     * @param onEnd called after the last report; ends a test run that belongs to this run only
     * @param unrun what below an item was to be judged: of a run that could not even begin, nothing is known of it
     */
    constructor(
        private readonly tree: TestTree,
        private readonly run: vscode.TestRun,
        private readonly reports: RunReports,
        private readonly target: string,
        private readonly onEnd: () => void,
        private readonly unrun: (item: vscode.TestItem) => readonly vscode.TestItem[] = () => [],
    ) {}

    take(event: RunEvent): void {
        this.hasBegun ||= event.kind === "run_started";
        this.ended = event.kind === "ended" ? event : this.ended;
        if (event.kind === "started" && event.item !== undefined && event.trial !== undefined && event.baseline !== true) {
            // The next output is the answer of this test.
            const trial = event.trial > 1 ? ` · trial ${String(event.trial)}` : "";
            this.run.appendOutput(lines(`▶ ${event.label ?? event.task ?? ""}${trial}`), undefined, this.tree.item(event.item, event.label));
        }
        for (const report of this.reports.of(event)) {
            this.show(report);
        }
    }

    end(problem: string | undefined): void {
        if (problem !== undefined) {
            const item = this.tree.item(this.target);
            // If the engine was killed, the end event has already reported the reason at each interrupted item.
            const isTold = isToldBy(problem, this.ended);
            if (!isTold) {
                this.run.appendOutput(lines(inSettings(problem)), undefined, item);
            }
            if (!isTold || this.concluded.get(item.id) !== "errored") {
                this.run.errored(item, broken(problem));
            }
            if (!this.hasBegun) {
                this.unrun(item).forEach((each) => {
                    this.run.skipped(each); // an older result would look like one of this run
                });
            }
        }
        this.keepFailures();
        this.onEnd();
    }

    /**
     * Reports parents that did not pass as failed: VS Code gives a parent of which only a part ran the verdict of this part
     * in the gutter, whatever its other children came to before.
     */
    private keepFailures(): void {
        const kept = new Set(this.concluded.keys());
        for (const id of this.concluded.keys()) {
            for (let around = this.tree.item(id).parent; around !== undefined && !kept.has(around.id); around = around.parent) {
                kept.add(around.id);
                const failure = this.tree.failureOf(around.id) ?? this.failureElsewhere(around);
                if (failure !== undefined) {
                    this.fail(around, failure);
                }
            }
        }
    }

    /** Returns the failure of an item below which something that this run did not touch did not pass when it last ran. */
    private failureElsewhere(item: vscode.TestItem): Failure | undefined {
        const labels = this.tree.failingBelow(item, (id) => this.concluded.has(id));
        if (labels.length === 0) {
            return undefined;
        }
        const [first, more] = [labels[0] ?? "", labels.length - 1];
        const others = more === 0 ? "" : ` and ${String(more)} more`;
        const text = `Not run now: \`${first}\`${others} did not pass in the last run.`;
        // Not as a message: VS Code prints each of them over a line, without a location over that of the item.
        this.run.appendOutput(lines(text), undefined, item);
        return { verdict: "failed", messages: [], duration: undefined };
    }

    private fail(item: vscode.TestItem, { verdict, messages, duration }: Failure): void {
        this.run[verdict](item, messages, duration);
    }

    private show(report: Report): void {
        const item = report.item === undefined ? undefined : this.tree.item(report.item, report.label, report.location);
        if (report.kind === "output") {
            this.run.appendOutput(lines(ownInSettings(report.text ?? "")), undefined, item);
        } else if (item !== undefined) {
            if (report.kind === "enqueued") {
                this.tree.forgetTrials(item);
                this.run.enqueued(item);
            } else {
                this.tree.showJudged(item);
                if (report.kind === "started") {
                    this.run.started(item);
                } else {
                    this.conclude(item, report);
                }
            }
        }
    }

    private conclude(item: vscode.TestItem, { verdict, messages, duration }: Report): void {
        const told = (messages ?? []).map((message) => messageOf(message, item));
        this.concluded.set(item.id, verdict);
        if (verdict === "errored" || verdict === "skipped") {
            this.skipUnasked(item);
        }
        if (verdict === "failed" || verdict === "errored") {
            const failure = { verdict, messages: told, duration };
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
    private skipUnasked(item: vscode.TestItem): void {
        if (kindOf(item.id) === "task") {
            item.children.forEach((grader) => {
                if (!this.concluded.has(grader.id)) {
                    this.run.skipped(grader);
                }
            });
        }
    }
}

/** Why nothing was run: at the line that it speaks of, where it names one. */
function broken(problem: string): vscode.TestMessage {
    const { words, place } = placed(problem);
    const message = new vscode.TestMessage(words);
    if (place?.line !== undefined) {
        message.location = new vscode.Location(vscode.Uri.file(place.file), new vscode.Position(place.line - 1, 0));
    }
    return message;
}

/** Returns the task, and the trial if there are several, of a failure that is shown in the suite's file. */
function answerOf({ location }: ReportMessage, item: vscode.TestItem): string[] {
    const named: string[] = [];
    if (location !== undefined && kindOf(item.id) === "grader" && vscode.Uri.parse(location.uri).fsPath === suiteOf(item.id)) {
        for (let around = item.parent; around?.parent !== undefined; around = around.parent) {
            named.unshift(around.label);
        }
    }
    return named;
}

function messageOf(told: ReportMessage, item: vscode.TestItem): vscode.TestMessage {
    const { text, location, expected, actual } = told;
    const said = [reasonFirst(text), ...answerOf(told, item)].join(" · ");
    // Beside nothing there is nothing to compare: VS Code would write "!= hello" at the line instead of the reason.
    const compared = (expected ?? "").trim() !== "" && (actual ?? "").trim() !== "";
    const message = compared ? vscode.TestMessage.diff(said, expected ?? "", actual ?? "") : new vscode.TestMessage(said);
    if (location !== undefined) {
        message.location = new vscode.Location(vscode.Uri.parse(location.uri), rangeOf(location.range));
    } else if (item.uri !== undefined && item.range !== undefined) {
        message.location = new vscode.Location(item.uri, item.range);
    }
    message.contextValue = "waza.failure";
    return message;
}

/** Escapes control characters: answers of agents may contain terminal commands. */
function lines(text: string): string {
    const shown = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu, (character) =>
        character === "\r" ? "" : `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
    );
    return `${shown.replaceAll("\n", "\r\n")}\r\n`;
}
