/** The runnables of a document: what the server can run of it, and where. */

import type { LanguageClient, Range } from "vscode-languageclient/node";
import type { TextDocument } from "vscode";
import type { ItemKind } from "./itemIds";

/** An answer of `waza/runnables`; see docs/protocol.md. */
export interface Runnable {
    readonly id: string;
    readonly kind: ItemKind;
    readonly label: string;
    readonly range: Range;
    /** The id of the runnable that contains this one; null for a suite. */
    readonly parent: string | null;
}

/** Requests the runnables of a document, in text order. */
export async function runnablesIn(client: LanguageClient, document: TextDocument): Promise<readonly Runnable[]> {
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    return (await client.sendRequest<Runnable[] | null>("waza/runnables", { textDocument })) ?? [];
}

/** Returns the id of the suite, or of the nearest item at or above a line; undefined if there is nothing to run. */
export function runnableAt(runnables: readonly Runnable[], what: "suite" | "cursor", line: number): string | undefined {
    const suite = runnables.find(({ kind }) => kind === "suite")?.id ?? runnables.find(({ kind }) => kind === "task" || kind === "prompt")?.parent;
    if (what === "suite") {
        return suite ?? undefined;
    }
    const above = runnables.filter(({ range }) => range.start.line <= line);
    const nearest = above.reduce<Runnable | undefined>(
        (best, candidate) => (best === undefined || candidate.range.start.line >= best.range.start.line ? candidate : best),
        undefined,
    );
    return nearest?.id ?? suite ?? undefined;
}
