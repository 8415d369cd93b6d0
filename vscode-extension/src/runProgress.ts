/** The progress of a run and its summary at the end, short enough for the status bar. */

import { optionsToSettings } from "./reasons";
import type { RunEvent } from "./runEvents";

const SEPARATOR = " · ";
/** The fewest characters of a shortened part that are still readable. */
const MIN_REASON_LENGTH = 30;
/** The most characters of a trigger prompt in the progress. */
const MAX_PROMPT_LENGTH = 40;
const SERVER_LOST = "the run was interrupted: the language server stopped; what was finished is kept";
/** The last event of a run whose server has stopped and cannot send one. */
export const INTERRUPTED: RunEvent = {
    kind: "ended",
    status: "error",
    conclusion: { verdict: "interrupted", words: SERVER_LOST, reasons: [SERVER_LOST] },
};

/** Collects the events of a run. */
export class RunProgress {
    private readonly busy = new Map<string, string>();
    private last = "";
    private completed = 0;
    private total = 0;
    private cost: number | undefined;
    /** The last event. */
    end: RunEvent | undefined;

    take(event: RunEvent): void {
        this.completed = event.completed ?? this.completed;
        this.total = event.total ?? this.total;
        this.cost = event.cost_usd ?? this.cost;
        const isPrompt = event.task === undefined && event.item !== undefined; // a trigger prompt
        const key = `${event.task ?? event.item ?? ""} ${event.trial ?? 0}`;
        if (event.kind === "started" && (event.trial !== undefined || isPrompt)) {
            const [trial, name] = [event.trial ?? 1, event.label ?? event.task ?? ""];
            this.busy.set(key, [isPrompt ? shortened(name, MAX_PROMPT_LENGTH) : name, trial > 1 ? `trial ${trial}` : ""].filter(Boolean).join(" · "));
        } else if (event.kind === "asking" || event.kind === "grading") {
            const label = this.busy.get(key)?.replace(/ \u00b7 grading$/u, "");
            if (label !== undefined) {
                this.busy.set(key, event.kind === "grading" ? `${label} · grading` : label);
            }
        } else if (event.kind === "graded") {
            this.last = `${event.task ?? ""} · ${event.label ?? event.grader ?? ""}`;
        } else if (event.kind === "waits" || event.kind === "run_started") {
            this.last = event.kind === "waits" ? (event.message ?? "") : "";
        } else if (event.kind === "ended") {
            this.end = event;
        } else if ((event.trial !== undefined || isPrompt) && event.kind !== "output") {
            this.busy.delete(key);
        }
    }

    /** Returns the progress: `3/12 · greets · trial 2 · 0:34 · $0.22`. */
    progress(elapsedMilliseconds: number): string {
        const count = this.total > 0 ? `${this.completed}/${this.total}` : "";
        const activity = [...this.busy.values()].at(-1) ?? this.last;
        const otherCount = this.busy.size > 1 ? `+${this.busy.size - 1}` : "";
        return [count, activity, otherCount, clock(elapsedMilliseconds), dollars(this.cost)].filter((word) => word !== "").join(" · ");
    }

    /** Returns the summary at the end: `2 of 3 tasks passed, 1 failed · 0:34 · $0.22`. */
    summary(elapsedMilliseconds: number): string {
        // After its name, "the run was" is redundant: `greeter: cancelled; what was finished is kept`.
        const words = optionsToSettings(this.end?.conclusion?.words ?? this.end?.message ?? this.end?.status ?? "").replace(/^the run was /u, "");
        return [words, clock(elapsedMilliseconds), dollars(this.cost)].filter((word) => word !== "").join(" · ");
    }
}

/** Returns a duration in minutes and seconds: `1:04`. */
export function clock(milliseconds: number): string {
    const seconds = Math.floor(milliseconds / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Returns a score as the engine shows it: only a full score is shown as `1.00`. */
export function shownScore(score: number): string {
    return (score < 1 && Number(score.toFixed(2)) >= 1 ? 0.99 : score).toFixed(2);
}

function dollars(amount: number | undefined): string {
    return amount === undefined ? "" : `$${amount.toFixed(amount < 0.01 ? 4 : 2)}`;
}

/**
 * Shortens a text for the status bar: cuts its longest part after a word, and keeps the numbers.
 *
 * VS Code gives an entry two fifths of the window and cuts off the rest without an ellipsis; 80 characters fit into 1280 pixels.
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
        return withoutLast; // only the duration or the cost is missing
    }
    const at = parts.findIndex(({ length }) => length === longest);
    const room = longest - (text.length - limit);
    if (parts.length > 1 && room >= MIN_REASON_LENGTH) {
        return parts.map((part, index) => (index === at ? cut(part, room) : part)).join(SEPARATOR);
    }
    return cut(text, limit);
}

function cut(text: string, limit: number): string {
    const start = text.slice(0, limit);
    return `${start.slice(0, Math.max(start.lastIndexOf(" "), Math.floor(limit / 2))).replace(/[\s\u00b7;,:]+$/u, "")} …`;
}
