/**
 * The pages that the server's hovers and problems link to, shown as pages and not as the text that they are written in.
 *
 * Other editors open the file; VS Code would, too, at its first line. Its preview of Markdown goes to the heading.
 */

import * as vscode from "vscode";
import type { Middleware, vsdiag } from "vscode-languageclient/node";
import { engineOptionsToSettings } from "./runProgress";

export const OPEN_PAGE = "waza.openPage";

/** Returns `text` with its links to files of Markdown as links to the command that shows them. */
export function linkPagesInText(text: string): string {
    return text.replaceAll(/\]\((file:[^\s()]+\.md#[\w-]+)\)/gu, (_, address: string) => {
        const query = encodeURIComponent(JSON.stringify([address])).replaceAll(/[()]/gu, (character) => (character === "(" ? "%28" : "%29"));
        return `](command:${OPEN_PAGE}?${query})`;
    });
}

/** The same of a hover, with settings for what the engine has options for. */
export function linkPagesInHover(hover: vscode.Hover | null | undefined): vscode.Hover | null | undefined {
    for (const content of hover?.contents ?? []) {
        if (content instanceof vscode.MarkdownString) {
            content.value = engineOptionsToSettings(linkPagesInText(content.value));
        }
    }
    return hover;
}

/** A hint that also mentions settings: it is returned entirely, or the tooltip follows later. */
export function nameSettingsInHint(hint: vscode.InlayHint): vscode.InlayHint {
    const parts = typeof hint.label === "string" ? [] : hint.label;
    if (typeof hint.label === "string") {
        hint.label = engineOptionsToSettings(hint.label);
    }
    for (const part of parts) {
        part.value = engineOptionsToSettings(part.value);
    }
    for (const each of [hint, ...parts]) {
        if (each.tooltip instanceof vscode.MarkdownString) {
            each.tooltip.value = engineOptionsToSettings(each.tooltip.value);
        } else if (typeof each.tooltip === "string") {
            each.tooltip = engineOptionsToSettings(each.tooltip);
        }
    }
    return hint;
}

/** The same of problems: their codes link to the page that explains them, and they speak of settings. They come pushed, pulled, and of the workspace in parts. */
export const diagnosticsMiddleware: Middleware = {
    handleDiagnostics: (uri, problems, next) => {
        next(uri, problems.map(linkPageOf));
    },
    provideDiagnostics: async (document, previous, token, next) => {
        const report = await next(document, previous, token);
        return report === null || report === undefined ? report : linkPagesInReport(report);
    },
    provideWorkspaceDiagnostics: async (previous, token, report, next) => {
        const answer = await next(previous, token, (part) => {
            report(part === null ? part : { items: part.items.map(linkPagesInReport) });
        });
        return answer === null || answer === undefined ? answer : { items: answer.items.map(linkPagesInReport) };
    },
};

function linkPagesInReport<Report extends vsdiag.DocumentDiagnosticReport>(report: Report): Report {
    return "items" in report ? { ...report, items: report.items.map(linkPageOf) } : report;
}

function linkPageOf(problem: vscode.Diagnostic): vscode.Diagnostic {
    const { code } = problem;
    problem.message = engineOptionsToSettings(problem.message);
    if (typeof code === "object" && code.target.scheme === "file" && code.target.path.endsWith(".md")) {
        const query = encodeURIComponent(JSON.stringify([code.target.toString()]));
        problem.code = { value: code.value, target: vscode.Uri.parse(`command:${OPEN_PAGE}?${query}`, true) };
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
