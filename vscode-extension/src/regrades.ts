/** Grades recorded answers again, without the agent and its cost. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { errorMessage } from "./messages";
import { showRequestError } from "./requestErrors";
import type { RunEvent } from "./runEvents";
import type { RunView } from "./runViews";
import { GRADERS_NEED_TRUST, isTrustedFor } from "./trust";

export const REGRADE_COMMAND = "waza.regrade";

/** The answer of `waza.regrade`. */
interface RegradeAnswer {
    readonly status: "completed" | "error";
    readonly tasks: number;
    readonly message: string | null;
}

/** A re-graded item and its events, with one `ended` for each record. */
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

    /** Takes an event about an item. */
    take(id: string, event: RunEvent): void {
        const regrading = this.active.get(id);
        regrading?.events.push(event);
        regrading?.view.take(event);
    }

    /** Grades the last recorded answers of an item again, and shows the events in a view. */
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
            problem = errorMessage(error);
            void showRequestError(error);
            return undefined;
        } finally {
            if (this.active.get(id) === regrading) {
                this.active.delete(id); // keeps a later re-grade of the same item
            }
            view.end(problem);
            this.ended.fire({ id, events: regrading.events });
        }
    }
}
