/**
 * The pages that the server's hovers link to, shown as pages and not as the text that they are written in.
 *
 * Other editors open the file; VS Code would, too, at its first line. Its preview of Markdown goes to the heading.
 */

import * as vscode from "vscode";

export const OPEN_PAGE = "waza.openPage";

/** Returns `text` with its links to files of Markdown as links to the command that shows them. */
export function withPages(text: string): string {
    return text.replaceAll(/\]\((file:[^\s()]+\.md#[\w-]+)\)/gu, (_, address: string) => {
        const asked = encodeURIComponent(JSON.stringify([address])).replaceAll(/[()]/gu, (sign) => (sign === "(" ? "%28" : "%29"));
        return `](command:${OPEN_PAGE}?${asked})`;
    });
}

/** The same of a hover. */
export function hoverWithPages(hover: vscode.Hover | null | undefined): vscode.Hover | null | undefined {
    for (const content of hover?.contents ?? []) {
        if (content instanceof vscode.MarkdownString) {
            content.value = withPages(content.value);
        }
    }
    return hover;
}

/** Shows a page at its heading; without VS Code's own preview as text. */
export async function openPage(address: string): Promise<void> {
    const page = vscode.Uri.parse(address, true);
    if (page.scheme !== "file" || !page.path.endsWith(".md")) {
        return;
    }
    try {
        await vscode.commands.executeCommand("markdown.showPreview", page);
    } catch {
        await vscode.window.showTextDocument(page.with({ fragment: "" }));
    }
}
