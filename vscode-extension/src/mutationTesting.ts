/** How strong the graders of a suite are: measured when asked, with the answers of its newest run. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { plain } from "./messages";
import { titleOf } from "./runnables";

/** The server's answer to `waza.strength`; see docs/protocol.md. */
interface MutationTestingAnswer {
    readonly status: "completed" | "error";
    readonly graders: number;
    /** The finding, in one line. */
    readonly words: string;
}

/** Runs mutation testing on the graders of a suite; weak ones are marked at their lines. */
export async function runMutationTesting(client: LanguageClient, id: string): Promise<void> {
    const title = plain(`Waza: measuring the graders of ${titleOf(id)}`);
    const answer = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, async () => {
        try {
            const params = { command: "waza.strength", arguments: [{ id }] };
            return (await client.sendRequest(ExecuteCommandRequest.type, params)) as MutationTestingAnswer;
        } catch (error) {
            void vscode.window.showWarningMessage(plain(error instanceof Error ? error.message : String(error)));
            return undefined;
        }
    });
    if (answer?.status === "completed") {
        void vscode.window.showInformationMessage(plain(`${answer.words} Hover over a grader's name for details.`));
    }
}
