/**
 * A file compared with its version when a run began: the diff of a stale score.
 *
 * The server has the earlier text; here it is a read-only document with its own scheme.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

const SCHEME = "waza-recorded";
export const SHOW_CHANGE = "waza.showChange";

/** The argument of the server's links: a result file, a path in its record, and where that file is now. */
interface Change {
    readonly results: string;
    readonly path: string;
    readonly uri: string;
}

/** Registers the command of stale scores, and the documents that it shows. */
export function registerChanges(client: () => LanguageClient | undefined): vscode.Disposable {
    const provider: vscode.TextDocumentContentProvider = {
        provideTextDocumentContent: async (uri) => {
            const { results, path } = JSON.parse(uri.query) as Change;
            const text = await client()?.sendRequest<string | null>("waza/recordedText", { results, path });
            return text ?? "";
        },
    };
    return vscode.Disposable.from(
        vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
        vscode.commands.registerCommand(SHOW_CHANGE, async (change: unknown) => {
            if (isChange(change)) {
                await show(change);
            }
        }),
    );
}

async function show({ results, path, uri }: Change): Promise<void> {
    const now = vscode.Uri.parse(uri);
    const then = vscode.Uri.from({ scheme: SCHEME, path: now.path, query: JSON.stringify({ results, path }) });
    const name = path.slice(path.lastIndexOf("/") + 1);
    await vscode.commands.executeCommand("vscode.diff", then, now, `${name} (at the run ↔ now)`);
}

function isChange(value: unknown): value is Change {
    const { results, path, uri } = (value ?? {}) as Partial<Record<keyof Change, unknown>>;
    return typeof results === "string" && typeof path === "string" && typeof uri === "string" && uri.startsWith("file:");
}
