/**
 * Opens the documentation pages that hovers and diagnostics link to in VS Code's Markdown preview, at the right heading.
 *
 * Without this, VS Code would open the Markdown file as text, at its first line. The same middleware replaces options of the
 * command line by settings of this extension.
 */

import * as vscode from "vscode";
import type { Middleware, vsdiag } from "vscode-languageclient/node";
import { engineOptionsToSettings } from "./reasons";

export const OPEN_PAGE = "waza.openPage";

/** Replaces links to Markdown files by links to the command that opens the preview. */
export function linkPagesInText(text: string): string {
    return text.replaceAll(/\]\((file:[^\s()]+\.md#[\w-]+)\)/gu, (_, address: string) => {
        const query = encodeURIComponent(JSON.stringify([address])).replaceAll(/[()]/gu, (character) => (character === "(" ? "%28" : "%29"));
        return `](command:${OPEN_PAGE}?${query})`;
    });
}

/** Does so in a hover, and replaces options by settings. */
export function linkPagesInHover(hover: vscode.Hover | null | undefined): vscode.Hover | null | undefined {
    for (const content of hover?.contents ?? []) {
        if (content instanceof vscode.MarkdownString) {
            content.value = engineOptionsToSettings(linkPagesInText(content.value));
        }
    }
    return hover;
}

/** Replaces options by settings in an inlay hint; its tooltip may be resolved later. */
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

/** Does both in diagnostics, whether they are pushed, pulled, or streamed for the workspace. */
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

/** Opens a page at its heading; as text if VS Code's Markdown preview is disabled. */
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
