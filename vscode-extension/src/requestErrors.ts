/** Shows the reason of a rejected request, with a button that opens the file that it names. */

import * as vscode from "vscode";
import { errorMessage, sentence } from "./messages";
import { reasonFirst, splitLocation } from "./reasons";

/** Shows an error of a request. */
export async function showRequestError(error: unknown): Promise<void> {
    const reason = errorMessage(error);
    const { place } = splitLocation(reason);
    const open = "Open File";
    const chosen = await vscode.window.showErrorMessage(sentence(reasonFirst(reason)), ...(place === undefined ? [] : [open]));
    if (chosen === open) {
        await vscode.commands.executeCommand("waza.openFile", place);
    }
}
