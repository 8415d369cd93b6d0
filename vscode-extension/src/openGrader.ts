/** From a verdict on a page to the lines that it is of. */

import * as vscode from "vscode";
import type { LanguageClient, Range } from "vscode-languageclient/node";
import { suiteIdOf } from "./runnables";

interface Item {
    readonly id: string;
    readonly label: string;
    readonly uri: string;
    readonly range: Range;
}

/** Shows where a grader of a task is written, by its label in the Test Explorer; of one that is gone, its task. */
export async function openGrader(client: LanguageClient, task: string, grader: string): Promise<void> {
    const childrenOf = async (parent: string) => client.sendRequest<Item[]>("waza/tests", { parent });
    const found = (await childrenOf(task)).find(({ label }) => label === grader) ?? (await childrenOf(suiteIdOf(task))).find(({ id }) => id === task);
    if (found === undefined) {
        void vscode.window.showInformationMessage("The task and its graders are not in the suite any more.");
        return;
    }
    const selection = client.protocol2CodeConverter.asRange(found.range);
    await vscode.window.showTextDocument(client.protocol2CodeConverter.asUri(found.uri), { selection });
}
