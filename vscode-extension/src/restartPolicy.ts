/** Restarts a server that stops by itself, unless it has stopped too often of late. The messages are our own. */

import { CloseAction, ErrorAction, type CloseHandlerResult, type ErrorHandler, type ErrorHandlerResult } from "vscode-languageclient/node";

/** How often it is started again within the time below. */
const MOST_RESTARTS = 4;
const WITHIN_MILLISECONDS = 3 * 60 * 1_000;

export const GIVEN_UP = "The Waza language server keeps stopping and was not restarted.";

export class Restarts implements ErrorHandler {
    private stopped: number[] = [];

    /** @param onGivenUp called when it is not started any more */
    constructor(private readonly onGivenUp: () => void) {}

    /** Every message to a server that has just stopped fails: `closed` decides whether to restart it. */
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
