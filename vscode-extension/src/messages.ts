/**
 * Text for notifications and progress titles, in which VS Code turns `[text](command:…)` into links.
 *
 * Names of tasks and graders, and the output of the server and of interpreters, come from files and must be shown as plain text.
 */

import * as vscode from "vscode";

// Control characters, bidirectional marks, line separators and zero-width characters.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

const CANCEL = "Cancel";

interface Question {
    readonly message: string;
    readonly choices: readonly string[];
    /** True to show a list to choose from instead of a modal warning. */
    readonly pick?: boolean;
}

/** Asks a question of the server in a modal dialog: a notification may be hidden, and the run that waits for it would seem to hang. */
export async function confirm({ message, choices, pick = false }: Question): Promise<string | null> {
    if (pick) {
        return (await vscode.window.showQuickPick(choices, { title: "Waza", placeHolder: message })) ?? null;
    }
    const items = choices.map((title) => ({ title, isCloseAffordance: title === CANCEL }));
    return (await vscode.window.showWarningMessage(plain(message), { modal: true }, ...items))?.title ?? null;
}

/** Returns `text` without links, and with invisible characters as escapes. */
export function plain(text: string): string {
    return text
        .replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .replaceAll("](", "] (");
}

/** Returns the message of a caught error. */
export function errorMessage(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}

/** Turns a reason, which begins in lower case, into a sentence. */
export function sentence(text: string): string {
    return plain(text.charAt(0).toUpperCase() + text.slice(1));
}
