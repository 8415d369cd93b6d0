/**
 * The runnables of a document, as the server returns them.
 *
 * An id is a path, `suite::task::grader`, or `suite#triggers:text` of a prompt. It is sent back to the server unchanged; the editor
 * only parses it for titles and for the files to save before a run.
 */

import * as path from "node:path";
import type { LanguageClient, Range } from "vscode-languageclient/node";
import type { TextDocument } from "vscode";

/** A file system takes names of 255 bytes; the file of a task has an ending, and one more while it is written. */
const LONGEST_ID_BYTES = 200;

/** One answer of the request `waza/runnables`; see docs/protocol.md. */
export interface Runnable {
    readonly id: string;
    readonly kind: "suite" | "task" | "grader" | "prompt";
    readonly label: string;
    readonly range: Range;
    /** The id of the runnable that contains this one; null for a suite. */
    readonly parent: string | null;
}

/** Returns the runnables of `document`, in the order of its text. */
export async function runnablesIn(client: LanguageClient, document: TextDocument): Promise<readonly Runnable[]> {
    const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
    return (await client.sendRequest<Runnable[] | null>("waza/runnables", { textDocument })) ?? [];
}

/** Returns the id of the suite of a document, or of the item at a line or nearest above it; undefined when nothing can be run. */
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

/** Returns the kind of an id: `suite::task` is a task, `suite::task::grader` and `suite::::grader` a grader, `suite#…:text` a prompt. */
export function kindOf(id: string): Runnable["kind"] {
    if (promptOf(id) !== undefined) {
        return "prompt";
    }
    return (["suite", "task", "grader"] as const)[Math.min(segments(id).length, 3) - 1] ?? "suite";
}

/** The eval file of the runnable. */
export function suiteOf(id: string): string {
    return path.normalize(segments(id)[0] ?? "");
}

/** The id of the suite that an id is in, as the server writes it. */
export function suiteIdOf(id: string): string {
    return promptOf(id)?.suite ?? id.split("::", 1)[0] ?? "";
}

/** The titles of the suites of the window, by their files. */
let suiteTitles: ReadonlyMap<string, string> = new Map();

export function setSuiteTitles(titles: ReadonlyMap<string, string>): void {
    suiteTitles = titles;
}

/** Returns the title of a runnable: the name of the suite, or that of its folder while the suite is not read. */
export function titleOf(id: string): string {
    const [, ...inside] = segments(id);
    const suite = suiteOf(id);
    return [suiteTitles.get(suite) ?? path.basename(path.dirname(suite)), ...inside].filter((name) => name !== "").join(" › ");
}

/** The id of a task of a suite. */
export function taskId(suite: string, task: string): string {
    return `${suite}::${task.replaceAll("%", "%25").replaceAll(":", "%3A")}`;
}

/** The id of the task that is run; undefined if it is neither a task nor in one. */
export function taskOf(id: string): string | undefined {
    const [, task = ""] = promptOf(id) === undefined ? segments(id) : [];
    return task === "" ? undefined : task;
}

/** Why a task of a suite that has the ids `taken` cannot be called `text`; undefined when it can. Its file gets a name made of it. */
export function taskIdProblem(text: string, taken: ReadonlySet<string>): string | undefined {
    if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(text)) {
        return "Write a word of letters, digits, dots, - and _.";
    }
    if (Buffer.byteLength(text) > LONGEST_ID_BYTES) {
        return `Write a shorter id, of at most ${String(LONGEST_ID_BYTES)} bytes: its file is named after it.`;
    }
    return taken.has(text) ? `The suite has a task ${text} already.` : undefined;
}

/** The suite and the text of the id of a trigger prompt; undefined of another id. A path has no colon that is not written `%3A`. */
export function promptOf(id: string): { readonly suite: string; readonly text: string } | undefined {
    const found = /#(?:triggers|leaves):/u.exec(id);
    return found === null ? undefined : { suite: id.slice(0, found.index), text: id.slice(found.index + found[0].length) };
}

function segments(id: string): string[] {
    const prompt = promptOf(id);
    const written = (prompt?.suite ?? id).split("::").map((name) => name.replaceAll("%3A", ":").replaceAll("%25", "%"));
    return prompt === undefined ? written : [...written, prompt.text];
}
