/** Opens the lines of a grader, for the verdict of a grader on a result page. */

import * as vscode from "vscode";
import type { LanguageClient, Range } from "vscode-languageclient/node";
import { suiteIdOf } from "./itemIds";

interface Item {
    readonly id: string;
    readonly label: string;
    readonly uri: string;
    readonly range: Range;
}

/** Opens the lines of a grader, by its label in the Test Explorer; those of its task if the grader was removed. */
export async function openGrader(client: LanguageClient, task: string, grader: string): Promise<void> {
    const childrenOf = async (parent: string) => client.sendRequest<Item[]>("waza/tests", { parent });
    const found = (await childrenOf(task)).find(({ label }) => label === grader) ?? (await childrenOf(suiteIdOf(task))).find(({ id }) => id === task);
    if (found === undefined) {
        void vscode.window.showInformationMessage("The suite no longer has this task.");
        return;
    }
    const selection = client.protocol2CodeConverter.asRange(found.range);
    await vscode.window.showTextDocument(client.protocol2CodeConverter.asUri(found.uri), { selection });
}
