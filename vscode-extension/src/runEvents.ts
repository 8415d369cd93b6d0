/**
 * Events of runs: the notification `waza/runEvent`; see docs/protocol.md.
 *
 * Passing and failing come from the engine's conclusion; the extension never decides that.
 */

import type { Location } from "vscode-languageclient/node";

export const RUN_EVENT = "waza/runEvent";

/** The verdict of a task, trial, grader or prompt, named as in VS Code's test API. */
export type Verdict = "passed" | "failed" | "errored" | "skipped";

/** A failed check, and the location of its rule. */
export interface CheckFailure {
    readonly message: string;
    readonly location?: Location;
    /** The two texts that were compared, where it was texts. */
    readonly expected?: string;
    readonly actual?: string;
}

export interface GraderConclusion {
    readonly name: string;
    readonly verdict: "passed" | "failed" | "errored" | "pending" | "advisory";
    readonly feedback: string;
}

/** The conclusion of a task or a run; `reason` and `graders` are those of a task, `reasons` those of a run. */
export interface Conclusion {
    readonly verdict: string;
    /** How a run ended, in one line. */
    readonly words?: string;
    readonly reason?: string;
    /** The chances that new trials pass, of a task with several or of the whole run: pass@k and pass^k. */
    readonly estimates?: string;
    /** Why a task has passed so far only: not all of its trials ran. */
    readonly cut_short?: string;
    readonly reasons?: readonly string[];
    /** Those of `reasons` that say no more than the numbers of tasks do. */
    readonly counted_reasons?: readonly string[];
    readonly graders?: readonly GraderConclusion[];
    readonly tasks?: Readonly<Record<string, number>>;
}

export interface RunEvent {
    readonly kind: string;
    readonly item?: string;
    readonly label?: string;
    readonly location?: Location;
    /** A line of the task or grader without a hint, so that a message covers none. */
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
    /** True if it is about a recorded answer that was graded again, and not about a run. */
    readonly regraded?: boolean;
    /** It closes a task that some graders have judged again, with what the others said in the run. */
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

/** Returns the verdict in the event that closes a task: a task that was cut short has not passed. */
export function concludedVerdict({ conclusion, kind }: RunEvent): Verdict {
    return conclusion?.cut_short ? "errored" : verdictOf(conclusion?.verdict ?? kind);
}

/** The engine's word in those of VS Code; whatever was not judged is skipped. */
export function verdictOf(word: string): Verdict {
    return VERDICTS[word] ?? "skipped";
}
