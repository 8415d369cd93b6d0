/** What becomes of a server that stops by itself: it starts again, unless it has stopped too often of late. Told in our own words. */

import { CloseAction, ErrorAction, type CloseHandlerResult, type ErrorHandler, type ErrorHandlerResult } from "vscode-languageclient/node";

/** How often it is started again within the time below. */
const MOST_RESTARTS = 4;
const WITHIN_MILLISECONDS = 3 * 60 * 1_000;

export const GIVEN_UP = "The Waza language server keeps stopping and was not restarted.";

export class Restarts implements ErrorHandler {
    private stopped: number[] = [];

    /** @param onGivenUp called when it is not started any more */
    constructor(private readonly onGivenUp: () => void) {}

    /** What is sent to a server that has just stopped fails, message by message: how it goes on is decided when the connection closes. */
    error(error: Error): ErrorHandlerResult {
        return { action: ErrorAction.Continue, message: `The connection to the Waza language server: ${error.message}`, handled: true };
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
