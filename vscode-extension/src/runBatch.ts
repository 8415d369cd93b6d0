/** A batch of runs that one click has started: their results are reported once, when the last one has ended. */

import type { RunRequest } from "./runs";

/** The most runs that a message names. */
const MAX_NAMED = 3;
/** The labels of verdicts; a run with any other verdict is in error. */
const LABELS: Readonly<Record<string, string>> = {
    passed: "passed",
    failed: "failed",
    unjudged: "without a verdict",
    limited: "stopped by a limit",
    interrupted: "interrupted",
};
const IN_ERROR = "in error";

/** The result of a run. */
export interface RunOutcome {
    readonly id: string;
    readonly title: string;
    /** The verdict of its conclusion; `errored` if its results could not be written. */
    readonly verdict: string;
    /** The summary: `1 of 2 tasks passed, 1 failed`. */
    readonly words: string;
    /** True if there are failures to look at and to run again. */
    readonly leavesFailures: boolean;
    /** True if an answer has failed; false if there are only errors. */
    readonly hasFailedAnswer: boolean;
    /** True if there is a result to open. */
    readonly hasResults: boolean;
    /** Returns the runs of the items that still fail. */
    readonly retryRequests: () => RunRequest[];
    /** Returns whether all failed items have passed in later runs. */
    readonly haveAllPassed: () => boolean;
}

export class RunBatch {
    readonly startedAt = Date.now();
    private readonly outcomes: RunOutcome[] = [];

    /** @param planned the number of runs */
    constructor(private readonly planned: number) {}

    take(outcome: RunOutcome): void {
        this.outcomes.push(outcome);
    }

    /** True if no run has begun; rejected runs have their own messages. */
    get isEmpty(): boolean {
        return this.outcomes.length === 0;
    }

    /** The runs with failures. */
    get failures(): readonly RunOutcome[] {
        return this.outcomes.filter(({ leavesFailures }) => leavesFailures);
    }

    /** The worst verdict of the runs. */
    get verdict(): string {
        const verdicts = this.outcomes.map(({ verdict }) => verdict);
        if (verdicts.includes("failed")) {
            return "failed";
        }
        return verdicts.length < this.planned ? "interrupted" : (verdicts.find((verdict) => verdict !== "passed") ?? "passed");
    }

    /** A summary of the results: `2 of 3 runs: 1 passed, 1 failed`. */
    get counts(): string {
        const numbers = new Map<string, number>();
        for (const { verdict } of this.outcomes) {
            const word = LABELS[verdict] ?? IN_ERROR;
            numbers.set(word, (numbers.get(word) ?? 0) + 1);
        }
        const ended = this.outcomes.length;
        const of = ended === this.planned ? `${ended} runs` : `${ended} of ${this.planned} runs`;
        return `${of}: ${[...numbers].map(([word, count]) => `${count} ${word}`).join(", ")}`;
    }

    /** The result of each run, in one line each. */
    get lines(): string[] {
        return this.outcomes.map(({ title, words }) => `${title}: ${words}`);
    }

    /** The results of the runs with failures, with the names of the first ones. */
    get failureSummary(): string {
        const more = this.failures.length - MAX_NAMED;
        const first = this.failures.slice(0, MAX_NAMED).map(({ title, words }) => `${title}: ${words}`);
        return [...first, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
    }
}
