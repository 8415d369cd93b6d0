/**
 * The pages that the server's hovers and problems link to, shown as pages and not as the text that they are written in.
 *
 * Other editors open the file; VS Code would, too, at its first line. Its preview of Markdown goes to the heading.
 */

import * as vscode from "vscode";
import type { Middleware, vsdiag } from "vscode-languageclient/node";
import { ownInSettings } from "./runWords";

export const OPEN_PAGE = "waza.openPage";

/** Returns `text` with its links to files of Markdown as links to the command that shows them. */
export function withPages(text: string): string {
    return text.replaceAll(/\]\((file:[^\s()]+\.md#[\w-]+)\)/gu, (_, address: string) => {
        const asked = encodeURIComponent(JSON.stringify([address])).replaceAll(/[()]/gu, (sign) => (sign === "(" ? "%28" : "%29"));
        return `](command:${OPEN_PAGE}?${asked})`;
    });
}

/** The same of a hover, with settings for what the engine has options for. */
export function hoverWithPages(hover: vscode.Hover | null | undefined): vscode.Hover | null | undefined {
    for (const content of hover?.contents ?? []) {
        if (content instanceof vscode.MarkdownString) {
            content.value = ownInSettings(withPages(content.value));
        }
    }
    return hover;
}

/** A hint that also mentions settings: it is returned entirely, or the tooltip follows later. */
export function hintWithSettings(hint: vscode.InlayHint): vscode.InlayHint {
    const parts = typeof hint.label === "string" ? [] : hint.label;
    if (typeof hint.label === "string") {
        hint.label = ownInSettings(hint.label);
    }
    for (const part of parts) {
        part.value = ownInSettings(part.value);
    }
    for (const each of [hint, ...parts]) {
        if (each.tooltip instanceof vscode.MarkdownString) {
            each.tooltip.value = ownInSettings(each.tooltip.value);
        } else if (typeof each.tooltip === "string") {
            each.tooltip = ownInSettings(each.tooltip);
        }
    }
    return hint;
}

/** The same of problems: their codes link to the page that explains them, and they speak of settings. They come pushed, pulled, and of the workspace in parts. */
export const problemsWithPages: Middleware = {
    handleDiagnostics: (uri, problems, next) => {
        next(uri, problems.map(withPage));
    },
    provideDiagnostics: async (document, previous, token, next) => {
        const report = await next(document, previous, token);
        return report === null || report === undefined ? report : reportWithPages(report);
    },
    provideWorkspaceDiagnostics: async (previous, token, tell, next) => {
        const answer = await next(previous, token, (part) => {
            tell(part === null ? part : { items: part.items.map(reportWithPages) });
        });
        return answer === null || answer === undefined ? answer : { items: answer.items.map(reportWithPages) };
    },
};

function reportWithPages<Report extends vsdiag.DocumentDiagnosticReport>(report: Report): Report {
    return "items" in report ? { ...report, items: report.items.map(withPage) } : report;
}

function withPage(problem: vscode.Diagnostic): vscode.Diagnostic {
    const { code } = problem;
    problem.message = ownInSettings(problem.message);
    if (typeof code === "object" && code.target.scheme === "file" && code.target.path.endsWith(".md")) {
        const asked = encodeURIComponent(JSON.stringify([code.target.toString()]));
        problem.code = { value: code.value, target: vscode.Uri.parse(`command:${OPEN_PAGE}?${asked}`, true) };
    }
    return problem;
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
