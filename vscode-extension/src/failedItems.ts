/** What of a run has failed, so that it alone can be run again: what failed elsewhere in the window costs nothing. */

import { kindOf } from "./runnables";
import { concludedVerdict, verdictOf, type RunEvent } from "./runEvents";
import type { RunRequest } from "./runs";
import { plannedRuns } from "./testing/plan";

const ENDED: ReadonlySet<string> = new Set(["passed", "failed", "errored", "tried"]);

export class FailedItems {
    private readonly ids = new Set<string>();

    constructor(private readonly request: RunRequest) {}

    take(event: RunEvent): void {
        if (event.item === undefined || event.baseline === true || !ENDED.has(event.kind) || (event.kind !== "tried" && event.trial !== undefined)) {
            return;
        }
        const verdict = event.kind === "tried" ? verdictOf(event.status ?? "") : concludedVerdict(event);
        if (verdict === "failed" || verdict === "errored") {
            this.ids.add(event.item);
        }
    }

    /** Whether a task or a prompt by itself has failed. */
    get areSome(): boolean {
        return this.ids.size > 0;
    }

    /** The runs that try it again, as the settings are then; the whole run when no task or prompt by itself has failed. */
    requests(): RunRequest[] {
        const { id, tasks, prompts } = this.request;
        if (this.ids.size === 0 || kindOf(id) === "grader") {
            return [{ id, ...(tasks === undefined ? {} : { tasks }), ...(prompts === undefined ? {} : { prompts }) }];
        }
        return plannedRuns([...this.ids]);
    }
}
