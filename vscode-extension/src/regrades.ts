/** Recorded answers that are graded again, free and without the agent: requests, events and messages. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { showRequestError } from "./requestErrors";
import type { RunEvent } from "./runEvents";
import type { RunView } from "./runViews";
import { GRADERS_NEED_TRUST, isTrustedFor } from "./trust";

export const REGRADE_COMMAND = "waza.regrade";

/** How grading again ended, as the server answers it. */
interface RegradeAnswer {
    readonly status: "completed" | "error";
    readonly tasks: number;
    readonly message: string | null;
}

/** A regraded item and its events: one `ended` for each record. */
export interface Regraded {
    readonly id: string;
    readonly events: readonly RunEvent[];
}

interface Regrading {
    readonly view: RunView;
    readonly events: RunEvent[];
}

export class Regrades {
    private readonly active = new Map<string, Regrading>();
    private readonly ended = new vscode.EventEmitter<Regraded>();
    /** Fires when recorded answers were graded again, or could not be. */
    readonly onDidEnd = this.ended.event;

    /** Takes an event about the item with an id. */
    take(id: string, event: RunEvent): void {
        const regrading = this.active.get(id);
        regrading?.events.push(event);
        regrading?.view.take(event);
    }

    /** Grades the last recorded answers of the item with an id again, and shows it in the view. */
    async regrade(client: LanguageClient, id: string, view: RunView): Promise<unknown> {
        if (!isTrustedFor(GRADERS_NEED_TRUST)) {
            view.end(undefined);
            return undefined;
        }
        const regrading: Regrading = { view, events: [] };
        this.active.set(id, regrading);
        let problem: string | undefined;
        try {
            const answer = (await client.sendRequest(ExecuteCommandRequest.type, { command: REGRADE_COMMAND, arguments: [{ id }] })) as RegradeAnswer;
            problem = answer.message ?? undefined;
            return answer;
        } catch (error) {
            problem = error instanceof Error ? error.message : String(error);
            void showRequestError(error);
            return undefined;
        } finally {
            if (this.active.get(id) === regrading) {
                this.active.delete(id); // a later one of the same stays
            }
            view.end(problem);
            this.ended.fire({ id, events: regrading.events });
        }
    }
}
