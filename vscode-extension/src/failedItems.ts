/** The failed items of a run, so that only these are run again: failures of other runs in the window cost nothing. */

import { kindOf } from "./runnables";
import { concludedVerdict, verdictOf, type RunEvent, type Verdict } from "./runEvents";
import type { RunRequest } from "./runs";
import { plannedRuns } from "./testing/plan";

const END_KINDS: ReadonlySet<string> = new Set(["passed", "failed", "errored", "tried"]);

export class FailedItems {
    private readonly ids = new Set<string>();
    /** True if all failed items have passed in later runs. */
    haveAllPassed = false;

    constructor(private readonly request: RunRequest) {}

    take(event: RunEvent): void {
        const verdict = finalVerdict(event);
        if (event.item !== undefined && (verdict === "failed" || verdict === "errored")) {
            this.ids.add(event.item);
        }
    }

    /** Hears of a later run: what has passed there needs no other one. */
    takeLaterEvent(event: RunEvent): void {
        const isLast = finalVerdict(event) === "passed" && this.ids.delete(event.item ?? "") && this.ids.size === 0;
        this.haveAllPassed ||= isLast;
    }

    /** True if a task or a prompt itself has failed. */
    get hasAny(): boolean {
        return this.ids.size > 0;
    }

    /**
     * The runs of the items that still fail, with the settings of then: none when no task or prompt itself has failed, or when all
     * have passed since. An empty list never means all.
     */
    requests(): RunRequest[] {
        const { id } = this.request;
        return this.hasAny && kindOf(id) === "grader" ? [{ id }] : plannedRuns([...this.ids]);
    }
}

/** How a task as a whole, or a prompt, has ended; undefined when the event is of anything else. */
function finalVerdict(event: RunEvent): Verdict | undefined {
    if (event.item === undefined || event.baseline === true || !END_KINDS.has(event.kind) || (event.kind !== "tried" && event.trial !== undefined)) {
        return undefined;
    }
    return event.kind === "tried" ? verdictOf(event.status ?? "") : concludedVerdict(event);
}
