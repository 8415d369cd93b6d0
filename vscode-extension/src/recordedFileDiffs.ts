/**
 * Shows the diff of a stale score: a file compared with its version when the run began.
 *
 * The server returns the recorded text, which is shown as a read-only document with its own scheme.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

const SCHEME = "waza-recorded";
export const SHOW_CHANGE = "waza.showChange";

/** The argument of the server's links: a result file, a path in its record, and the current URI of that file. */
interface RecordedFile {
    readonly results: string;
    readonly path: string;
    readonly uri: string;
}

/** Registers the command that stale scores link to, and the provider of the recorded documents. */
export function registerRecordedFileDiffs(client: () => LanguageClient | undefined): vscode.Disposable {
    const provider: vscode.TextDocumentContentProvider = {
        provideTextDocumentContent: async (uri) => {
            const { results, path } = JSON.parse(uri.query) as RecordedFile;
            const text = await client()?.sendRequest<string | null>("waza/recordedText", { results, path });
            return text ?? "";
        },
    };
    return vscode.Disposable.from(
        vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
        vscode.commands.registerCommand(SHOW_CHANGE, async (file: unknown) => {
            if (isRecordedFile(file)) {
                await showDiff(file);
            }
        }),
    );
}

async function showDiff({ results, path, uri }: RecordedFile): Promise<void> {
    const now = vscode.Uri.parse(uri);
    const then = vscode.Uri.from({ scheme: SCHEME, path: now.path, query: JSON.stringify({ results, path }) });
    const name = path.slice(path.lastIndexOf("/") + 1);
    await vscode.commands.executeCommand("vscode.diff", then, now, `${name} (at the run ↔ now)`);
}

function isRecordedFile(value: unknown): value is RecordedFile {
    const { results, path, uri } = (value ?? {}) as Partial<Record<keyof RecordedFile, unknown>>;
    return typeof results === "string" && typeof path === "string" && typeof uri === "string" && uri.startsWith("file:");
}
