/** What becomes of a server that stops by itself: it starts again, unless it has stopped too often of late. Told in our own words. */

import { CloseAction, ErrorAction, type CloseHandlerResult, type ErrorHandler, type ErrorHandlerResult } from "vscode-languageclient/node";

/** How often it is started again within the time below. */
const MOST_RESTARTS = 4;
const WITHIN_MILLISECONDS = 3 * 60 * 1_000;
const MOST_ERRORS = 3;

export const GIVEN_UP = "The Waza language server stops again and again, so it is not started any more.";

export class Restarts implements ErrorHandler {
    private stopped: number[] = [];

    /** @param onGivenUp called when it is not started any more */
    constructor(private readonly onGivenUp: () => void) {}

    error(_error: Error, _message: unknown, count: number | undefined): ErrorHandlerResult {
        return { action: (count ?? MOST_ERRORS + 1) <= MOST_ERRORS ? ErrorAction.Continue : ErrorAction.Shutdown };
    }

    closed(): CloseHandlerResult {
        const now = Date.now();
        this.stopped = [...this.stopped.filter((then) => now - then < WITHIN_MILLISECONDS), now];
        if (this.stopped.length > MOST_RESTARTS) {
            this.onGivenUp();
            return { action: CloseAction.DoNotRestart, message: GIVEN_UP, handled: true };
        }
        return { action: CloseAction.Restart, message: "The Waza language server stopped; it is started again.", handled: true };
    }
}
