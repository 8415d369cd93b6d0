/**
 * Converts the events of a run to reports for the Test Explorer.
 *
 * The verdicts are those of the engine. A grader is reported when its task has ended, with the failures of its first trial that did
 * not pass; trials get their own items as soon as a task has a second one.
 */

import type { Location } from "vscode-languageclient/node";
import { trialId } from "../itemIds";
import { concludedVerdict, type RunEvent, type Verdict, verdictOf } from "../runEvents";
import { type Runnable } from "../runnables";
import { shownScore } from "../runProgress";

export interface ReportMessage {
    readonly text: string;
    readonly location?: Location | undefined;
    /** The two strings that were compared. */
    readonly expected?: string | undefined;
    readonly actual?: string | undefined;
}

export interface Report {
    readonly kind: "enqueued" | "started" | "ended" | "output";
    /** The id of the item; undefined for output of the entire run. */
    readonly item?: string | undefined;
    readonly label?: string | undefined;
    readonly location?: Location | undefined;
    readonly verdict?: Verdict;
    readonly messages?: readonly ReportMessage[];
    readonly duration?: number | undefined;
    readonly text?: string;
}

interface Graded {
    readonly event: RunEvent;
    readonly trial: number;
}

interface TaskState {
    readonly graded: Graded[];
    readonly closed: RunEvent[];
    hasSeveralTrials: boolean;
}

const MARKS: Readonly<Record<string, string>> = { passed: "✓", failed: "✗", errored: "!", skipped: "–", pending: "◷", advisory: "○" };

/**
 * Returns the description of a suite after a run; undefined if the run has no verdict of the suite, such as a run of one grader.
 *
 * @param target the item that ran; `whole` unless the run was limited to a part of it
 */
export function suiteDescription(target: { readonly kind: Runnable["kind"]; readonly whole: boolean }, words: string | undefined): string | undefined {
    if (words === undefined || target.kind === "grader") {
        return undefined;
    }
    return target.kind === "suite" && target.whole ? words : `last run, of a part: ${words}`;
}

/** Returns the item of a grader in a task: a grader of the suite, `suite::::grader`, has an item in each task. */
function graderItemOf(target: string, task: string): string {
    const [, grader] = target.split("::::");
    return grader === undefined ? target : `${task}::${grader}`;
}

/** Returns the name of the grader of an event. */
function graderOf({ label, grader }: RunEvent): string {
    return label ?? grader ?? "";
}

export class RunReports {
    private readonly tasks = new Map<string, TaskState>();
    /** The queued and running items. */
    private readonly openItems = new Set<string>();

    /** @param target the item that runs; the verdict of a task is not reported if only one of its graders runs */
    constructor(private readonly target: { readonly id: string; readonly kind: "suite" | "task" | "grader" | "prompt"; readonly whole: boolean }) {}

    /** Returns the reports for an event. */
    of(event: RunEvent): Report[] {
        const reports = this.reportsFor(event);
        for (const { kind, item } of reports) {
            if (item !== undefined && kind === "ended") {
                this.openItems.delete(item);
            } else if (item !== undefined && kind !== "output") {
                this.openItems.add(item);
            }
        }
        return reports;
    }

    private reportsFor(event: RunEvent): Report[] {
        if (event.kind === "output") {
            return outputOf(event);
        }
        if (event.baseline === true) {
            return []; // a run without the skill, for comparison only
        }
        switch (event.kind) {
            case "enqueued":
            case "started":
                return this.started(event);
            case "graded":
                return this.graded(event);
            case "tried":
                return [ended(event, verdictOf(event.status ?? ""), reasonsOf(event), event.item)];
            case "passed":
            case "failed":
            case "errored":
            case "pending":
            case "skipped":
                return event.trial === undefined ? this.taskEnded(event) : this.trialEnded(event);
            case "ended":
                return this.runEnded(event);
            default:
                return [];
        }
    }

    private started(event: RunEvent): Report[] {
        if (event.item === undefined) {
            return [];
        }
        if (this.target.kind === "grader") {
            return [{ kind: "started", item: graderItemOf(this.target.id, event.item) }];
        }
        if (event.kind === "enqueued") {
            return [{ kind: "enqueued", item: event.item, label: event.message ?? event.label }];
        }
        const started: Report[] = [{ kind: "started", item: event.item }];
        if ((event.trial ?? 1) > 1) {
            started.push(...this.separateTrials(event.item));
            started.push({ kind: "started", item: trialId(event.item, event.trial ?? 1), label: `Trial ${event.trial ?? 1}` });
        }
        return started;
    }

    private graded(event: RunEvent): Report[] {
        const [task, id] = [taskOf(event.item), event.item];
        if (task === undefined || id === undefined) {
            return [];
        }
        this.state(task).graded.push({ event, trial: event.trial ?? 1 });
        const verdict = graderVerdict(event);
        const score = event.score === undefined || verdict === "pending" ? "" : ` ${shownScore(event.score)}`;
        const why = verdict === "passed" || !event.message ? "" : `: ${event.message}`;
        const { label, location } = event; // this may be the first event of the grader
        return [{ kind: "output", item: id, label, location, text: `${MARKS[verdict] ?? ""} ${graderOf(event)}${score}${why}` }];
    }

    private trialEnded(event: RunEvent): Report[] {
        if (event.item === undefined) {
            return [];
        }
        const state = this.state(event.item);
        state.closed.push(event);
        return [...ungraded(event, event.message), ...(state.hasSeveralTrials ? this.trialReports(event.item, event) : [])];
    }

    /** Reports the trials of a task separately from now on, also those that have ended. */
    private separateTrials(task: string): Report[] {
        const state = this.state(task);
        if (state.hasSeveralTrials) {
            return [];
        }
        state.hasSeveralTrials = true;
        return state.closed.flatMap((event) => this.trialReports(task, event));
    }

    private trialReports(task: string, event: RunEvent): Report[] {
        const number = event.trial ?? 1;
        const own = this.state(task).graded.filter(({ trial }) => trial === number).map((graded) => graded.event);
        const id = trialId(task, number);
        const failing = own.filter((grader) => ["failed", "errored"].includes(graderVerdict(grader)));
        const failed = failing.map((grader) => ({ text: `${graderOf(grader)}: ${grader.message ?? ""}`, location: messageLocationOf(event) }));
        const messages = [...reasonsOf(event), ...failed];
        return [
            ended({ ...withGraderTime(event, own), label: `Trial ${number}` }, verdictOf(event.kind), messages, id),
            ...own.map((grader) => ended(grader, verdictOf(graderVerdict(grader)), failuresOf(grader), trialId(task, number, grader.grader))),
        ];
    }

    private taskEnded(event: RunEvent): Report[] {
        const task = event.item;
        if (task === undefined) {
            return [];
        }
        const { graded, closed } = this.state(task);
        const cutShort = event.conclusion?.cut_short ?? "";
        const reason = cutShort || (event.conclusion?.reason ?? event.message ?? "");
        const reports = closed.some((trial) => trial.message === reason) ? [] : ungraded(cutShort ? { ...event, kind: "errored" } : event, reason);
        const failing: string[] = [];
        // VS Code shows a task as failed if a child has failed, although this one passes with some failed trials.
        const isPassed = concludedVerdict(event) === "passed";
        if (isPassed) {
            reports.push(...this.toleratedFailures(task));
        }
        for (const concluded of event.conclusion?.graders ?? []) {
            const own = graded.filter((each) => each.event.grader === concluded.name).map((each) => each.event);
            const representative = own.find((each) => graderVerdict(each) === concluded.verdict) ?? own[0];
            if (representative !== undefined) {
                const verdict = isPassed ? toleratedVerdict(verdictOf(concluded.verdict)) : verdictOf(concluded.verdict);
                reports.push(ended(representative, verdict, failuresOf(representative), representative.item));
                if (representative.message && ["failed", "errored"].includes(verdict)) {
                    failing.push(`${graderOf(representative)}: ${representative.message}`);
                }
            }
        }
        if (this.target.kind !== "grader" || event.with_recorded === true) {
            const verdict = concludedVerdict(event);
            // "Go to Next Failure" visits the task first, so its message includes the reasons of its graders.
            const estimates = event.conclusion?.estimates ?? "";
            const text = [reason, ...failing, ...(estimates ? [estimates] : [])].join("\n");
            if (estimates) {
                reports.push({ kind: "output", item: task, text: `${event.label ?? event.task ?? ""}: ${estimates}` });
            }
            const whole = withGraderTime(event, graded.map((each) => each.event));
            reports.push(ended(whole, verdict, reason ? [{ text, location: messageLocationOf(event) }] : [], task));
        }
        return reports;
    }

    /** Reports the failed trials, and their graders, of a task that passed nevertheless. */
    private toleratedFailures(task: string): Report[] {
        const { hasSeveralTrials, closed } = this.state(task);
        const failed = hasSeveralTrials ? closed.filter(({ kind }) => toleratedVerdict(verdictOf(kind)) !== verdictOf(kind)) : [];
        return failed.flatMap((trial) => this.trialReports(task, trial)).map((report) => ({ ...report, verdict: toleratedVerdict(report.verdict ?? "skipped") }));
    }

    private runEnded(event: RunEvent): Report[] {
        const conclusion = event.conclusion;
        const reasons = conclusion?.reasons ?? [];
        const words = conclusion?.words ?? conclusion?.verdict ?? event.status ?? "";
        const counted = new Set(conclusion?.counted_reasons); // `words` includes the numbers
        const output = new Set([words, ...[...reasons, event.message ?? "", conclusion?.estimates ?? ""].filter((line) => !words.includes(line) && !counted.has(line))]);
        const reports: Report[] = [{ kind: "output", text: [...output].filter((line) => line !== "").join("\n") }, ...this.leftOpen(event)];
        // Tasks show their own verdicts, and "Re-run Failed Tests" would run the entire suite if it was reported as failed.
        const seenBelow = (conclusion?.tasks?.["failed"] ?? 0) + (conclusion?.tasks?.["errored"] ?? 0) > 0;
        if (this.target.kind === "suite" && this.target.whole && !seenBelow) {
            const reportsFor = reasons.length > 0 ? reasons : event.message ? [event.message] : [];
            const messages = reportsFor.map((text) => ({ text }));
            const verdict = verdictOf(conclusion?.verdict ?? event.status ?? "");
            // VS Code gives a skipped suite the icon of its tasks that passed.
            const wouldPass = verdict === "skipped" && (conclusion?.tasks?.["passed"] ?? 0) > 0;
            reports.push(ended({ kind: "ended" }, wouldPass ? "errored" : verdict, messages, this.target.id));
        }
        return reports;
    }

    /** Reports the items that have not ended with the run, so that they do not keep the icon of an earlier run. */
    private leftOpen(event: RunEvent): Report[] {
        const verdict = event.status === "canceled" ? "skipped" : "errored";
        const reason = event.conclusion?.reasons?.[0] ?? event.message ?? "the run ended before it";
        const messages = [{ text: reason }];
        return [...this.openItems].map((item) => {
            // VS Code gives a skipped task the icon of its trials that passed.
            const state = this.tasks.get(item);
            const wouldPass = state?.hasSeveralTrials === true && state.closed.some(({ kind }) => kind === "passed");
            return { kind: "ended", item, verdict: wouldPass ? "errored" : verdict, messages };
        });
    }

    private state(task: string): TaskState {
        let state = this.tasks.get(task);
        if (state === undefined) {
            state = { graded: [], closed: [], hasSeveralTrials: false };
            this.tasks.set(task, state);
        }
        return state;
    }
}

function ended(event: RunEvent, verdict: Verdict, messages: readonly ReportMessage[], item: string | undefined): Report {
    const { label, location, duration_ms: duration } = event;
    return { kind: "ended", item, label, location, verdict, messages, duration };
}

/** Adds the duration of the graders to an event, which has that of the agent only. */
function withGraderTime(event: RunEvent, graders: readonly RunEvent[]): RunEvent {
    const { duration_ms: answer } = event;
    return answer === undefined ? event : { ...event, duration_ms: graders.reduce((sum, grader) => sum + (grader.duration_ms ?? 0), answer) };
}

/** Returns why nothing was graded, as output: VS Code shows no message for a skipped item. */
function ungraded({ kind, item, label, location }: RunEvent, reason: string | undefined): Report[] {
    const isShown = (kind === "errored" || kind === "skipped") && item !== undefined && reason;
    return isShown ? [{ kind: "output", item, label, location, text: `${MARKS[kind] ?? ""} ${reason}` }] : [];
}

function outputOf(event: RunEvent): Report[] {
    return event.message ? [{ kind: "output", item: event.item, text: event.message }] : [];
}

/** Returns the verdict of an item whose task passed nevertheless. */
function toleratedVerdict(verdict: Verdict): Verdict {
    return verdict === "failed" || verdict === "errored" ? "skipped" : verdict;
}

/** Returns the verdict of a grader on one trial, from its event. */
function graderVerdict(event: RunEvent): "passed" | "failed" | "errored" | "pending" | "advisory" {
    if (event.status === "error") {
        return "errored";
    }
    const isOpen = event.status === "pending" || event.status === "advisory";
    return isOpen ? event.status : event.passed === true ? "passed" : "failed";
}

function failuresOf(event: RunEvent): ReportMessage[] {
    const failures = (event.failures ?? []).map(({ message, location, expected, actual }) => ({
        text: message,
        location: event.messageLocation ?? location ?? event.location,
        ...(expected === undefined && actual === undefined ? {} : { expected, actual }),
    }));
    return failures.length > 0 ? failures.filter(({ text }) => text !== "") : reasonsOf(event);
}

function reasonsOf(event: RunEvent): ReportMessage[] {
    return event.message ? [{ text: event.message, location: messageLocationOf(event) }] : [];
}

function messageLocationOf({ messageLocation, location }: RunEvent): Location | undefined {
    return messageLocation ?? location;
}

function taskOf(item: string | undefined): string | undefined {
    const at = item?.lastIndexOf("::") ?? -1;
    return at < 0 ? undefined : item?.slice(0, at);
}
