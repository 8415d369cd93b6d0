/** The views of a run: Test Explorer, status bar, log, result page. Each run has one of each. */

import type { RunBatch } from "./runBatch";
import type { RunEvent } from "./runEvents";
import type { RunRequest } from "./runs";

export interface RunView {
    take(event: RunEvent): void;
    /** @param problem why the run did not start or did not finish; undefined if it finished */
    end(problem: string | undefined): void;
    /** True if the view has shown a message about failures, so that no second one is needed. */
    readonly hasReported?: boolean;
}

/** Creates the view of a run that begins, alone or in a batch. */
export type RunViewFactory = (request: RunRequest, batch?: RunBatch) => RunView;
