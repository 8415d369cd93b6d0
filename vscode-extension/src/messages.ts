/**
 * Text in notifications and titles of progress, where VS Code makes links of `[text](command:…)`.
 *
 * Names of tasks and graders, and what the server and interpreters say, come from files: they must show as text.
 */

import * as vscode from "vscode";

// Controls, marks that change the direction of text, other line separators, marks that show nothing.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

const CANCEL = "Cancel";

interface Question {
    readonly message: string;
    readonly choices: readonly string[];
    /** True to show a list to choose from instead of a modal warning. */
    readonly pick?: boolean;
}

/** Asks before a run, in front of all else: a message may be hidden, and what waits for its answer would look dead. */
export async function confirm({ message, choices, pick = false }: Question): Promise<string | null> {
    if (pick) {
        return (await vscode.window.showQuickPick(choices, { title: "Waza", placeHolder: message })) ?? null;
    }
    const items = choices.map((title) => ({ title, isCloseAffordance: title === CANCEL }));
    return (await vscode.window.showWarningMessage(plain(message), { modal: true }, ...items))?.title ?? null;
}

/** Returns `text` so that nothing in it is a link or hides. */
export function plain(text: string): string {
    return text
        .replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .replaceAll("](", "] (");
}

/** Turns a reason, which begins in lower case after its subject, into a sentence. */
export function sentence(text: string): string {
    return plain(text.charAt(0).toUpperCase() + text.slice(1));
}
