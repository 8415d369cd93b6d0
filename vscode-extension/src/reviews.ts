/** Reviews by a person: shows each answer that needs one, and asks whether it passes and why. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { titleOf } from "./itemIds";
import { errorMessage, plain } from "./messages";

/** An answer that needs a review, as `waza/reviews` returns it; see docs/protocol.md. */
interface PendingReview {
    /** The id of the grader. */
    readonly id: string;
    readonly trial: number;
    readonly results: string;
    readonly instructions: string | null;
    readonly criteria: readonly string[];
}

interface Verdict extends vscode.QuickPickItem {
    /** Undefined skips the answer for now. */
    readonly passed: boolean | undefined;
}

/** Asks for a review of each answer of a suite, a task or a grader that needs one, after `show` has opened it. Escape ends the loop. */
export async function reviewAnswers(client: LanguageClient, id: string, show: (id: string) => Promise<unknown>): Promise<void> {
    let count = 0;
    try {
        const waiting = await client.sendRequest<readonly PendingReview[]>("waza/reviews", { id });
        if (waiting.length === 0) {
            void vscode.window.showInformationMessage(plain(`${titleOf(id)} has no answer that needs a review.`));
            return;
        }
        for (const [index, answer] of waiting.entries()) {
            await show(answer.id);
            const review = await askForReview(answer, `${String(index + 1)} of ${String(waiting.length)}`);
            if (review === undefined) {
                break;
            }
            if (review.passed !== undefined) {
                const { id, trial, results } = answer;
                await client.sendRequest(ExecuteCommandRequest.type, { command: "waza.review", arguments: [{ id, trial, results, ...review }] });
                count += 1;
            }
        }
    } catch (error) {
        void vscode.window.showErrorMessage(plain(errorMessage(error)));
    }
    if (count > 0) {
        void vscode.window.showInformationMessage(count === 1 ? "The review was saved in reviews.jsonl." : `${String(count)} reviews were saved in reviews.jsonl.`);
    }
}

/** Asks for the verdict of one answer and a comment; undefined if cancelled. The prompts stay open while the user reads the result. */
async function askForReview(answer: PendingReview, position: string): Promise<{ readonly passed?: boolean; readonly comment?: string } | undefined> {
    const title = plain(`Review ${titleOf(answer.id)}, trial ${String(answer.trial)} (${position})`);
    const placeHolder = plain([answer.instructions ?? "Does the answer pass?", ...answer.criteria].join(" · "));
    const verdicts: readonly Verdict[] = [
        { label: "$(pass) Passed", passed: true },
        { label: "$(error) Failed", passed: false },
        { label: "$(debug-step-over) Later", passed: undefined },
    ];
    const chosen = await vscode.window.showQuickPick(verdicts, { title, placeHolder, ignoreFocusOut: true });
    if (chosen?.passed === undefined) {
        return chosen && {};
    }
    const prompt = `${chosen.passed ? "Passed" : "Failed"}: why? Enter records it, with a comment or without.`;
    const comment = await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true });
    return comment === undefined ? undefined : { passed: chosen.passed, comment };
}
