/** Restarts a server that stops unexpectedly, unless it has stopped too often in the last minutes. */

import { CloseAction, ErrorAction, type CloseHandlerResult, type ErrorHandler, type ErrorHandlerResult } from "vscode-languageclient/node";

/** The most restarts within the time below. */
const MOST_RESTARTS = 4;
const WITHIN_MILLISECONDS = 3 * 60 * 1_000;

export const GIVEN_UP = "The Waza language server keeps stopping and was not restarted.";

export class Restarts implements ErrorHandler {
    private stopped: number[] = [];

    /** @param onGivenUp called when the server is not restarted any more */
    constructor(private readonly onGivenUp: () => void) {}

    /** Continues: every message to a stopped server fails, and `closed` decides whether to restart it. */
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
        return { action: CloseAction.Restart, message: "The Waza language server stopped and is restarted.", handled: true };
    }
}
