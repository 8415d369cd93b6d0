/** Verdicts that people give: each answer that waits is shown, then it is asked whether it passes, and why. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { plain } from "./messages";
import { titleOf } from "./runnables";

/** An answer that waits for a person, as `waza/reviews` returns it; see docs/protocol.md. */
interface PendingReview {
    /** The id of the grader of its task. */
    readonly id: string;
    readonly trial: number;
    readonly results: string;
    readonly instructions: string | null;
    readonly criteria: readonly string[];
}

interface Verdict extends vscode.QuickPickItem {
    /** Undefined leaves the answer for later. */
    readonly passed: boolean | undefined;
}

/** Asks for a verdict of each answer of a suite, a task or a grader that waits; `show` shows the result of one. Escape leaves the rest as they are. */
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
        void vscode.window.showErrorMessage(plain(error instanceof Error ? error.message : String(error)));
    }
    if (count > 0) {
        void vscode.window.showInformationMessage(count === 1 ? "The review was saved in reviews.jsonl." : `${String(count)} reviews were saved in reviews.jsonl.`);
    }
}

/** The verdict of one answer and a comment on it; undefined when the person cancels. The prompt stays open while the person reads the result. */
async function askForReview(answer: PendingReview, which: string): Promise<{ readonly passed?: boolean; readonly comment?: string } | undefined> {
    const title = plain(`Review ${titleOf(answer.id)}, trial ${String(answer.trial)} (${which})`);
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
