/** Short messages about a run while it is active and when it has ended: the reason first. */

import type { RunEvent } from "./runEvents";

const SEPARATOR = " · ";
/** Characters that a reason needs to say anything. */
const MIN_REASON_LENGTH = 30;
/** Characters of a trigger prompt in progress. */
const MAX_PROMPT_LENGTH = 40;
const SERVER_LOST = "the run was interrupted: the language server stopped; what was finished is kept";
const JUDGE_EXECUTOR = "waza.run.judgeExecutor";
/** A variable that holds a key: named so, or said to be one. */
const KEY_VARIABLE = /`([A-Z][A-Z0-9_]*(?:KEY|TOKEN))`|variable `(\w+)`, which `provider\.api_key_env` names|\bkey in `(\w+)`|refused the key [^;]*; check `(\w+)`/u;
/** The settings that correspond to options of the command line. */
const SETTINGS: Readonly<Record<string, string>> = {
    "--executor": "waza.run.executor",
    "--model": "waza.run.model",
    "--judge-executor": JUDGE_EXECUTOR,
    "--judge-model": "waza.run.judgeModel",
    "--trials": "waza.run.trials",
    "--workers": "waza.run.workers",
    "--cluster": "waza.run.cluster",
    "--max-cost": "waza.run.maxCost",
    "--keep-workspace": "waza.run.keepWorkspaces",
};
/** The last event of a run whose server is gone and sends no more events. */
export const INTERRUPTED: RunEvent = {
    kind: "ended",
    status: "error",
    conclusion: { verdict: "interrupted", words: SERVER_LOST, reasons: [SERVER_LOST] },
};

/** How far a run is. */
export class RunProgress {
    private readonly busy = new Map<string, string>();
    private last = "";
    private completed = 0;
    private total = 0;
    private cost: number | undefined;
    /** The event that ended it. */
    end: RunEvent | undefined;

    take(event: RunEvent): void {
        this.completed = event.completed ?? this.completed;
        this.total = event.total ?? this.total;
        this.cost = event.cost_usd ?? this.cost;
        const isOfPrompt = event.task === undefined && event.item !== undefined; // one of those that try triggers
        const key = `${event.task ?? event.item ?? ""} ${event.trial ?? 0}`;
        if (event.kind === "started" && (event.trial !== undefined || isOfPrompt)) {
            const [trial, name] = [event.trial ?? 1, event.label ?? event.task ?? ""];
            this.busy.set(key, [isOfPrompt ? shortened(name, MAX_PROMPT_LENGTH) : name, trial > 1 ? `trial ${trial}` : ""].filter(Boolean).join(" · "));
        } else if (event.kind === "asking" || event.kind === "grading") {
            const named = this.busy.get(key)?.replace(/ \u00b7 grading$/u, "");
            if (named !== undefined) {
                this.busy.set(key, event.kind === "grading" ? `${named} · grading` : named);
            }
        } else if (event.kind === "graded") {
            this.last = `${event.task ?? ""} · ${event.label ?? event.grader ?? ""}`;
        } else if (event.kind === "waits" || event.kind === "run_started") {
            this.last = event.kind === "waits" ? (event.message ?? "") : "";
        } else if (event.kind === "ended") {
            this.end = event;
        } else if ((event.trial !== undefined || isOfPrompt) && event.kind !== "output") {
            this.busy.delete(key);
        }
    }

    /** Returns the progress: `3/12 · greets · trial 2 · 0:34 · $0.22`. */
    progress(elapsedMilliseconds: number): string {
        const counted = this.total > 0 ? `${this.completed}/${this.total}` : "";
        const activity = [...this.busy.values()].at(-1) ?? this.last;
        const others = this.busy.size > 1 ? `+${this.busy.size - 1}` : "";
        return [counted, activity, others, clock(elapsedMilliseconds), dollars(this.cost)].filter((word) => word !== "").join(" · ");
    }

    /** How it ended, in the words of its conclusion: `2 of 3 tasks passed, 1 failed · 0:34 · $0.22`. */
    summary(elapsedMilliseconds: number): string {
        // After its name, "the run was" is redundant: `greeter: cancelled; what was finished is kept`.
        const words = optionsToSettings(this.end?.conclusion?.words ?? this.end?.message ?? this.end?.status ?? "").replace(/^the run was /u, "");
        return [words, clock(elapsedMilliseconds), dollars(this.cost)].filter((word) => word !== "").join(" · ");
    }
}

/** A time as people read it: `1:04`. */
export function clock(milliseconds: number): string {
    const seconds = Math.floor(milliseconds / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A score as the engine shows it: only a full one reads as `1.00`. */
export function shownScore(score: number): string {
    return (score < 1 && Number(score.toFixed(2)) >= 1 ? 0.99 : score).toFixed(2);
}

function dollars(amount: number | undefined): string {
    return amount === undefined ? "" : `$${amount.toFixed(amount < 0.01 ? 4 : 2)}`;
}

/** A remedy for a run that could not finish; `command` is that of this extension or of VS Code. */
export interface Remedy {
    readonly title: string;
    readonly command: string;
    readonly argument?: string | FileLocation;
}

/** Where the file is that a reason speaks of; `line` counts from 1. */
export interface FileLocation {
    readonly file: string;
    readonly line?: number;
}

/** The buttons that fit a reason, the likeliest first. */
export function remediesFor(reason: string): Remedy[] {
    const { words, place } = splitLocation(reason);
    const found: Remedy[] = [];
    const packages = /needs packages that are not installed; `((?:pip install|pipx inject|uv (?:tool|pip) install) [^`]+)`/u.exec(words)?.[1];
    if (packages !== undefined) {
        found.push({ title: "Install", command: "waza.addAgents", argument: packages });
    }
    const login = /not logged in to GitHub; run `([^`]+ login)`/u.exec(words)?.[1];
    if (login !== undefined) {
        found.push({ title: "Log In", command: "waza.logIn", argument: login });
    }
    const key = KEY_VARIABLE.exec(words)?.slice(1).find(Boolean);
    if (key !== undefined || words.includes("wants a key")) {
        found.push({ title: "Set Key", command: "waza.setProviderKey", ...(key === undefined ? {} : { argument: key }) });
    }
    const isOfJudge = words.includes(JUDGE_EXECUTOR);
    if (isOfJudge) {
        found.push({ title: "Choose Judge", command: "workbench.action.openSettings", argument: JUDGE_EXECUTOR });
    } else if (/\bexecutor\b|\bagent\b|\bCopilot\b|\blogged in\b|wants a key/u.test(words)) {
        found.push({ title: "Choose Executor", command: "waza.chooseExecutor" });
    }
    const named = /(?:^|\s)(\/[^\s:]+\.ya?ml|[A-Za-z]:\\[^\s:]+\.ya?ml)/u.exec(words)?.[1];
    const wrong = place ?? (named === undefined ? undefined : { file: named });
    if (wrong !== undefined) {
        found.push({ title: "Open File", command: "waza.openFile", argument: wrong });
    }
    return found.slice(0, 2);
}

/** The buttons that help when an agent or a judge could not answer: it needs a login, a key, or a judge model. */
export function loginRemedies(reason: string): Remedy[] {
    const remedies = remediesFor(reason).filter(({ command }) => command !== "waza.openFile");
    return remedies.some(({ command, argument }) => command === "waza.logIn" || command === "waza.setProviderKey" || argument === JUDGE_EXECUTOR) ? remedies : [];
}

/** Returns a reason without the absolute paths before it, of a suite and of a file that it names. A line number is put at its end. */
export function reasonFirst(reason: string): string {
    const { words, place } = splitLocation(reason);
    const name = place?.file.split(/[/\\]/u).at(-1) ?? "";
    return place?.line === undefined ? words : `${words} (${name}, line ${String(place.line)})`;
}

/** Splits a reason from the files before it, and returns the last of them: the one that it is about. */
export function splitLocation(reason: string): { readonly words: string; readonly place?: FileLocation } {
    const [, file, line, words] = /^((?:\/|[A-Za-z]:\\)[^\n]*?\.\w+):(?:(\d+):)?\s+(.+)$/su.exec(reason) ?? [];
    if (file === undefined || words === undefined) {
        return { words: optionsToSettings(reason) };
    }
    return { place: { file, ...(line === undefined ? {} : { line: Number(line) }) }, ...splitLocation(words) };
}

/** Replaces command line options in the engine's advice by settings: `--judge-executor openai` by `waza.run.judgeExecutor: openai`. */
export function optionsToSettings(words: string): string {
    return replaceOptions(words, () => true);
}

/** The same of a text that may quote other programs, which have a `--model` of their own: of the options that the engine alone has. */
export function engineOptionsToSettings(words: string): string {
    return replaceOptions(words, (flag) => flag.startsWith("--judge-") || flag === "--max-cost" || flag === "--keep-workspace");
}

/** Returns whether the event that ended a run contains a reason, in a sentence of its own or within another one. */
export function isReportedBy(reason: string, end: RunEvent | undefined): boolean {
    const reported = [end?.message, end?.conclusion?.words, ...(end?.conclusion?.reasons ?? [])].join("\n").toLowerCase();
    return reported.includes(reason.replace(/\.$/u, "").toLowerCase());
}

function replaceOptions(words: string, isOption: (flag: string) => boolean): string {
    return words.replace(/`(--[a-z-]+)(?: ([^`]+))?`/gu, (written, flag: string, value: string | undefined) => {
        const setting = isOption(flag) ? SETTINGS[flag] : undefined;
        return setting === undefined ? written : `\`${setting}${value === undefined ? "" : `: ${value}`}\``;
    });
}

/**
 * As much of a text as fits into the status bar: its longest part is cut after a word, and its numbers stay.
 *
 * VS Code gives an entry two fifths of the window and cuts off the rest without a sign: a window of 1280 pixels has room for these.
 */
export function shortened(text: string, limit = 80): string {
    if (text.length <= limit) {
        return text;
    }
    const parts = text.split(SEPARATOR);
    const withoutLast = `${parts.slice(0, -1).join(SEPARATOR)} …`;
    const longest = Math.max(...parts.map(({ length }) => length));
    const last = parts.at(-1)?.length ?? 0;
    if (parts.length > 1 && text.length - limit <= last && last < longest && withoutLast.length <= limit) {
        return withoutLast; // how long it took, or what it cost, is all that is missing
    }
    const at = parts.findIndex(({ length }) => length === longest);
    const room = longest - (text.length - limit);
    if (parts.length > 1 && room >= MIN_REASON_LENGTH) {
        return parts.map((part, index) => (index === at ? cut(part, room) : part)).join(SEPARATOR);
    }
    return cut(text, limit);
}

function cut(text: string, limit: number): string {
    const begun = text.slice(0, limit);
    return `${begun.slice(0, Math.max(begun.lastIndexOf(" "), Math.floor(limit / 2))).replace(/[\s\u00b7;,:]+$/u, "")} …`;
}
