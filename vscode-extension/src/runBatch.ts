/** Runs that were requested by one click, one after the other: their results are reported once, when the last has ended. */

import type { RunRequest } from "./runs";

/** The most that are named in a message. */
const MAX_NAMED = 3;
/** The labels of a run by its verdict; every other verdict means that something broke. */
const LABELS: Readonly<Record<string, string>> = {
    passed: "passed",
    failed: "failed",
    unjudged: "without a verdict",
    limited: "stopped by a limit",
    interrupted: "interrupted",
};
const IN_ERROR = "in error";

/** How a run ended. */
export interface RunOutcome {
    readonly id: string;
    readonly title: string;
    /** The verdict of its conclusion; of one that passed and whose results are lost, that it is in error. */
    readonly verdict: string;
    /** How it ended, in words: `1 of 2 tasks passed, 1 failed`. */
    readonly words: string;
    /** True if there are failures to go through and to run again. */
    readonly leavesFailures: boolean;
    /** True if an answer failed, rather than something else broke. */
    readonly hasFailedAnswer: boolean;
    /** True if there are results to open. */
    readonly hasResults: boolean;
    /** The runs that try again what fails still; none when all of it has passed since. */
    readonly retryRequests: () => RunRequest[];
    /** Returns whether all failed items have passed in later runs. */
    readonly haveAllPassed: () => boolean;
}

export class RunBatch {
    readonly startedAt = Date.now();
    private readonly outcomes: RunOutcome[] = [];

    /** @param planned how many runs were requested */
    constructor(private readonly planned: number) {}

    take(outcome: RunOutcome): void {
        this.outcomes.push(outcome);
    }

    /** True when none of them has begun; each rejection is reported separately. */
    get isEmpty(): boolean {
        return this.outcomes.length === 0;
    }

    /** Those that leave something to be walked. */
    get failures(): readonly RunOutcome[] {
        return this.outcomes.filter(({ leavesFailures }) => leavesFailures);
    }

    /** The verdict of all: the worst of them. */
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

    /** The result of each run, a line each. */
    get lines(): string[] {
        return this.outcomes.map(({ title, words }) => `${title}: ${words}`);
    }

    /** The results of the runs with failures, the first of them by name. */
    get failureSummary(): string {
        const more = this.failures.length - MAX_NAMED;
        const first = this.failures.slice(0, MAX_NAMED).map(({ title, words }) => `${title}: ${words}`);
        return [...first, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
    }
}
