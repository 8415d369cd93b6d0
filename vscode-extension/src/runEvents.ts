/**
 * The events of runs, from the notification `waza/runEvent`; see docs/protocol.md.
 *
 * Verdicts come from the engine's conclusion; the extension never decides them.
 */

import type { Location } from "vscode-languageclient/node";

export const RUN_EVENT = "waza/runEvent";

/** The verdict of a task, trial, grader or prompt, named as in VS Code's test API. */
export type Verdict = "passed" | "failed" | "errored" | "skipped";

/** A failed check of a grader, and the location of its rule. */
export interface CheckFailure {
    readonly message: string;
    readonly location?: Location;
    /** The two strings, if strings were compared. */
    readonly expected?: string;
    readonly actual?: string;
}

export interface GraderConclusion {
    readonly name: string;
    readonly verdict: "passed" | "failed" | "errored" | "pending" | "advisory";
    readonly feedback: string;
}

/** The conclusion of a task or a run: a task has `reason` and `graders`, a run has `reasons`. */
export interface Conclusion {
    readonly verdict: string;
    /** A summary of a run in one line. */
    readonly words?: string;
    readonly reason?: string;
    /** Estimates that new trials pass, pass@k and pass^k: of a task with several trials, or of the run. */
    readonly estimates?: string;
    /** Why not all trials of a task ran. */
    readonly cut_short?: string;
    readonly reasons?: readonly string[];
    /** Those of `reasons` that only repeat the numbers of tasks. */
    readonly counted_reasons?: readonly string[];
    readonly graders?: readonly GraderConclusion[];
    readonly tasks?: Readonly<Record<string, number>>;
}

export interface RunEvent {
    readonly kind: string;
    readonly item?: string;
    readonly label?: string;
    readonly location?: Location;
    /** A line of the task or grader without an inlay hint, so that a message does not cover one. */
    readonly messageLocation?: Location;
    readonly failures?: readonly CheckFailure[];
    readonly task?: string;
    readonly trial?: number;
    readonly grader?: string;
    readonly score?: number;
    readonly passed?: boolean;
    readonly status?: string;
    readonly message?: string;
    readonly completed?: number;
    readonly total?: number;
    readonly duration_ms?: number;
    readonly cost_usd?: number;
    readonly baseline?: boolean;
    /** True if the event belongs to a re-grade of recorded answers and not to a run. */
    readonly regraded?: boolean;
    /** True if it ends a task that some graders have graded again, combined with the recorded verdicts of the others. */
    readonly with_recorded?: boolean;
    readonly conclusion?: Conclusion;
    readonly results_file?: string;
}

export interface RunEventParams {
    /** The id of the runnable. */
    readonly id: string;
    /** The progress token of the request for the run. */
    readonly token?: string | number | null;
    readonly event: RunEvent;
}

const VERDICTS: Readonly<Record<string, Verdict>> = {
    passed: "passed",
    failed: "failed",
    errored: "errored",
    error: "errored",
    broken: "errored",
    limited: "errored",
};

/** Returns the verdict in the event that ends a task: a task that was cut short has not passed. */
export function concludedVerdict({ conclusion, kind }: RunEvent): Verdict {
    return conclusion?.cut_short ? "errored" : verdictOf(conclusion?.verdict ?? kind);
}

/** Converts a verdict of the engine to one of VS Code's; anything without a verdict is skipped. */
export function verdictOf(word: string): Verdict {
    return VERDICTS[word] ?? "skipped";
}
