/** Collects the failed items of one run, so that "Re-run Failed" runs only these. */

import { kindOf } from "./itemIds";
import { concludedVerdict, type RunEvent, type Verdict, verdictOf } from "./runEvents";
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

    /** Takes an event of a later run: items that pass there are not run again. */
    takeLaterEvent(event: RunEvent): void {
        const isLast = finalVerdict(event) === "passed" && this.ids.delete(event.item ?? "") && this.ids.size === 0;
        this.haveAllPassed ||= isLast;
    }

    /** True if a task or a prompt has failed and has not passed since. */
    get hasAny(): boolean {
        return this.ids.size > 0;
    }

    /**
     * Returns the runs of the items that still fail, with the settings at that time. An empty list means that there is nothing to run,
     * never the whole suite.
     */
    requests(): RunRequest[] {
        const { id } = this.request;
        return this.hasAny && kindOf(id) === "grader" ? [{ id }] : plannedRuns([...this.ids]);
    }
}

/** Returns the verdict in the event that ends a task or a prompt; undefined for any other event, such as the end of a trial. */
function finalVerdict(event: RunEvent): Verdict | undefined {
    if (event.item === undefined || event.baseline === true || !END_KINDS.has(event.kind) || (event.kind !== "tried" && event.trial !== undefined)) {
        return undefined;
    }
    return event.kind === "tried" ? verdictOf(event.status ?? "") : concludedVerdict(event);
}
