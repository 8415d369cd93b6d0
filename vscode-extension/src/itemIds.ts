/**
 * The ids of suites, tasks, graders, trials and trigger prompts.
 *
 * An id is a path, `suite::task::grader`, with `#trial-N` after a task for a trial, or `suite#triggers:text` for a prompt. It is
 * sent back to the server unchanged; the editor only parses it for titles, for the tree and for the files to save before a run.
 */

import * as path from "node:path";

export type ItemKind = "suite" | "task" | "grader" | "prompt";

const TRIAL = "#trial-";
/** A file system takes names of 255 bytes; the file of a task has an ending, and one more while it is written. */
const MAX_TASK_ID_BYTES = 200;

/** Returns the kind of an id: `suite::task` is a task, `suite::task::grader` and `suite::::grader` a grader, `suite#…:text` a prompt. */
export function kindOf(id: string): ItemKind {
    if (promptOf(id) !== undefined) {
        return "prompt";
    }
    return (["suite", "task", "grader"] as const)[Math.min(namesIn(id).length, 3) - 1] ?? "suite";
}

/** Returns the path of the eval file of an item. */
export function suiteOf(id: string): string {
    return path.normalize(namesIn(id)[0] ?? "");
}

/** Returns the id of the suite of an item, as the server writes it. */
export function suiteIdOf(id: string): string {
    return promptOf(id)?.suite ?? id.split("::", 1)[0] ?? "";
}

/** Returns the id of a task of a suite. */
export function taskId(suite: string, task: string): string {
    return `${suite}::${task.replaceAll("%", "%25").replaceAll(":", "%3A")}`;
}

/** Returns the name of the task that an item is or is in; undefined for a suite, a prompt and a grader of the suite. */
export function taskOf(id: string): string | undefined {
    const [, task = ""] = promptOf(id) === undefined ? namesIn(id) : [];
    return task === "" ? undefined : task;
}

/** Returns the id of a trial of a task, or of a grader in it. */
export function trialId(task: string, trial: number, grader?: string): string {
    return `${task}${TRIAL}${trial}${grader === undefined ? "" : `::${grader}`}`;
}

/** Returns whether an item is a trial, or a grader in one. */
export function isInTrial(id: string): boolean {
    return promptOf(id) === undefined && id.includes(TRIAL);
}

/** Returns whether an item is a trial; a grader in a trial is not one. */
export function isTrial(id: string): boolean {
    return promptOf(id) === undefined && /#trial-\d+$/u.test(id);
}

/** Returns the number of the trial that an item is or is in; undefined for any other item. */
export function trialNumberOf(id: string): number | undefined {
    const found = isInTrial(id) ? /#trial-(\d+)/u.exec(id)?.[1] : undefined;
    return found === undefined ? undefined : Number(found);
}

/** Returns why a new task cannot have this id; undefined if it can. The file of the task is named after it. */
export function taskIdProblem(id: string, taken: ReadonlySet<string>): string | undefined {
    if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(id)) {
        return "Write a word of letters, digits, dots, - and _.";
    }
    if (Buffer.byteLength(id) > MAX_TASK_ID_BYTES) {
        return `Write a shorter id, of at most ${String(MAX_TASK_ID_BYTES)} bytes: its file is named after it.`;
    }
    return taken.has(id) ? `The suite already has a task ${id}.` : undefined;
}

/** Returns the suite and the text of a trigger prompt; undefined for any other item. The path of a suite writes a colon as `%3A`. */
export function promptOf(id: string): { readonly suite: string; readonly text: string } | undefined {
    const found = /#(?:triggers|leaves):/u.exec(id);
    return found === null ? undefined : { suite: id.slice(0, found.index), text: id.slice(found.index + found[0].length) };
}

/** Returns the id of the parent: `suite::task::grader` → `suite::task` → `suite`; that of a trial or a prompt is the part before `#`. */
export function parentOf(id: string): string | undefined {
    const prompt = promptOf(id);
    if (prompt !== undefined) {
        return prompt.suite;
    }
    const trial = id.indexOf(TRIAL);
    const at = id.lastIndexOf("::");
    if (trial >= 0 && at < trial) {
        return id.slice(0, trial);
    }
    return at < 0 ? undefined : id.slice(0, at);
}

/**
 * Returns the id to run for an item: a trial runs as its task, and so does everything that cannot be graded without the task,
 * which is its expectations and its follow-up prompts.
 */
export function runnableOf(id: string): string {
    if (promptOf(id) !== undefined) {
        return id;
    }
    const at = id.indexOf(TRIAL);
    return (at < 0 ? id : id.slice(0, at)).replace(/::(?:_output_(?:contains|not_contains|contains_any)|(?:(?!::).)* after turn \d+)$/su, "");
}

/** Returns the id of the suite or the task whose recorded result includes an item. */
export function recordedItemOf(item: string): string {
    const [suite = "", task = ""] = promptOf(item) === undefined ? runnableOf(item).split("::") : [suiteIdOf(item)];
    return task === "" ? suite : `${suite}::${task}`;
}

/** Decodes the name of a task or a grader in an id. */
export function decodedName(name: string): string {
    return name.replaceAll("%3A", ":").replaceAll("%25", "%");
}

/** The titles of the suites of the window, by their files. */
let suiteTitles: ReadonlyMap<string, string> = new Map();

export function setSuiteTitles(titles: ReadonlyMap<string, string>): void {
    suiteTitles = titles;
}

/** Returns the title of an item, such as `greeter › asks`; a suite that was not read yet is called as its folder. */
export function titleOf(id: string): string {
    const [, ...inside] = namesIn(id);
    const suite = suiteOf(id);
    return [suiteTitles.get(suite) ?? path.basename(path.dirname(suite)), ...inside].filter((name) => name !== "").join(" › ");
}

function namesIn(id: string): string[] {
    const prompt = promptOf(id);
    const names = (prompt?.suite ?? id).split("::").map(decodedName);
    return prompt === undefined ? names : [...names, prompt.text];
}
