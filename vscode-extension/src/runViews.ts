/** Where a run is shown: the Test Explorer, the status bar, the log. Each run has a view of each. */

import type { RunEvent } from "./runEvents";
import type { RunRequest } from "./runs";
import type { RunBatch } from "./runBatch";

export interface RunView {
    take(event: RunEvent): void;
    /** @param problem why the run could not start or did not come to its end, undefined when it did */
    end(problem: string | undefined): void;
    /** True if it has reported in a message what was wrong, so that no second message is needed at its end. */
    readonly hasReported?: boolean;
}

/** Makes the view of a run that begins, by itself or with others. */
export type RunViewFactory = (request: RunRequest, batch?: RunBatch) => RunView;
