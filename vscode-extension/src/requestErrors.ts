/** Messages about requests that the server rejects: its reason, and a button that opens the file in question. */

import * as vscode from "vscode";
import { sentence } from "./messages";
import { splitLocation, reasonFirst } from "./runProgress";

/** Says why something was not done. */
export async function showRequestError(error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    const { place } = splitLocation(reason);
    const open = "Open File";
    const chosen = await vscode.window.showErrorMessage(sentence(reasonFirst(reason)), ...(place === undefined ? [] : [open]));
    if (chosen === open) {
        await vscode.commands.executeCommand("waza.openFile", place);
    }
}
