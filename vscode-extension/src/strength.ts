/** How strong the graders of a suite are: measured when asked, with the answers of its newest run. */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { plain } from "./messages";
import { titleOf } from "./runnables";

/** What the server answers to `waza.strength`; see docs/protocol.md. */
interface StrengthAnswer {
    readonly status: "completed" | "error";
    readonly graders: number;
    readonly weak: number;
}

/** Measures the graders of a suite; the weak ones are marked where they stand. */
export async function measureStrength(client: LanguageClient, id: string): Promise<void> {
    const title = plain(`Waza: measuring the graders of ${titleOf(id)}`);
    const answer = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, async () => {
        try {
            const params = { command: "waza.strength", arguments: [{ id }] };
            return (await client.sendRequest(ExecuteCommandRequest.type, params)) as StrengthAnswer;
        } catch (error) {
            void vscode.window.showWarningMessage(plain(error instanceof Error ? error.message : String(error)));
            return undefined;
        }
    });
    if (answer?.status === "completed") {
        const weak = answer.weak === 0 ? "none of them is weak" : `${String(answer.weak)} weak, marked in the file`;
        void vscode.window.showInformationMessage(`Graders measured: ${String(answer.graders)}, ${weak}. Hover on a name tells more.`);
    }
}
