/** Mutation testing of the graders of a suite, with the answers of its newest run. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { titleOf } from "./itemIds";
import { errorMessage, plain } from "./messages";

/** The answer of `waza.strength`; see docs/protocol.md. */
interface MutationTestingAnswer {
    readonly status: "completed" | "error";
    readonly graders: number;
    /** A summary in one line. */
    readonly words: string;
}

/** Measures the mutation scores of the graders of a suite; the server marks weak graders at their lines. */
export async function runMutationTesting(client: LanguageClient, id: string): Promise<void> {
    const title = plain(`Waza: measuring the graders of ${titleOf(id)}`);
    const answer = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, async () => {
        try {
            const params = { command: "waza.strength", arguments: [{ id }] };
            return (await client.sendRequest(ExecuteCommandRequest.type, params)) as MutationTestingAnswer;
        } catch (error) {
            void vscode.window.showWarningMessage(plain(errorMessage(error)));
            return undefined;
        }
    });
    if (answer?.status === "completed") {
        void vscode.window.showInformationMessage(plain(`${answer.words} Hover over a grader's name for details.`));
    }
}
