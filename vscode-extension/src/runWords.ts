/** What is said of a run while it goes on, and when it has ended: few words, the reason first. */

import type { RunEvent } from "./runEvents";

/** How far a run is. */
export class RunState {
    private readonly busy = new Map<string, string>();
    private last = "";
    private completed = 0;
    private total = 0;
    private cost: number | undefined;
    private firstError = "";
    /** The event that ended it. */
    end: RunEvent | undefined;

    take(event: RunEvent): void {
        this.completed = event.completed ?? this.completed;
        this.total = event.total ?? this.total;
        this.cost = event.cost_usd ?? this.cost;
        const key = `${event.task ?? ""} ${event.trial ?? 0}`;
        if (event.kind === "started" && event.trial !== undefined) {
            this.busy.set(key, [event.label ?? event.task ?? "", event.trial > 1 ? `trial ${event.trial}` : ""].filter(Boolean).join(" · "));
        } else if (event.kind === "graded") {
            this.last = `${event.task ?? ""} · ${event.label ?? event.grader ?? ""}`;
        } else if (event.kind === "ended") {
            this.end = event;
        } else if (event.trial !== undefined && event.kind !== "output") {
            this.busy.delete(key);
        }
        if (event.kind === "errored" && this.firstError === "") {
            this.firstError = event.message ?? event.conclusion?.reason ?? "";
        }
    }

    /** What runs now: `3/12 · greets · trial 2 · 0:34 · $0.22`. */
    progress(elapsedMilliseconds: number): string {
        const counted = this.total > 0 ? `${this.completed}/${this.total}` : "";
        const now = [...this.busy.values()].at(-1) ?? this.last;
        const others = this.busy.size > 1 ? `+${this.busy.size - 1}` : "";
        return [counted, now, others, clock(elapsedMilliseconds), dollars(this.cost)].filter((word) => word !== "").join(" · ");
    }

    /** How it ended: `2 of 3 tasks passed, 1 failed · $0.22`; what broke comes first. */
    ending(elapsedMilliseconds: number): string {
        const { verdict, tasks, reasons } = this.end?.conclusion ?? { verdict: this.end?.status ?? "" };
        const counts = tasks === undefined ? "" : countWords(tasks);
        const [broken] = [this.firstError, this.end?.message ?? "", reasons?.[0] ?? ""].filter((word) => word !== "");
        const broke = verdict === "errored" || verdict === "broken" ? broken : undefined;
        const other = verdict === "failed" && counts.endsWith("passed") ? reasons?.[0] : undefined;
        const stopped = verdict === "limited" || verdict === "interrupted" ? reasons?.[0] : undefined;
        const words = [broke ?? stopped, counts, other, clock(elapsedMilliseconds), dollars(this.cost)];
        return words.filter((word) => word !== undefined && word !== "").join(" · ");
    }
}

/** `2 of 3 tasks passed, 1 failed`. */
function countWords(tasks: Readonly<Record<string, number>>): string {
    const rest = (["failed", "errored", "skipped", "lost", "not_run"] as const)
        .filter((key) => (tasks[key] ?? 0) > 0)
        .map((key) => `${tasks[key] ?? 0} ${key.replace("_", " ")}`);
    const total = tasks["total"] ?? 0;
    return [`${tasks["passed"] ?? 0} of ${total} ${total === 1 ? "task" : "tasks"} passed`, ...rest].join(", ");
}

function clock(milliseconds: number): string {
    const seconds = Math.floor(milliseconds / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function dollars(amount: number | undefined): string {
    return amount === undefined ? "" : `$${amount.toFixed(amount < 0.01 ? 4 : 2)}`;
}

/** A way out of what kept a run from its end; `command` is that of this extension or of VS Code. */
export interface WayOut {
    readonly title: string;
    readonly command: string;
    readonly argument?: string;
}

/** The buttons that fit a reason, the likeliest first. */
export function waysOut(reason: string): WayOut[] {
    const found: WayOut[] = [];
    if (/not logged in|wants? a login/iu.test(reason)) {
        found.push({ title: "Log In", command: "waza.logIn" });
    }
    const key = /`([A-Z][A-Z0-9_]*(?:KEY|TOKEN))`/u.exec(reason)?.[1];
    if (key !== undefined || reason.includes("wants a key")) {
        found.push({ title: "Set Key", command: "waza.setProviderKey", ...(key === undefined ? {} : { argument: key }) });
    }
    if (/\bexecutor\b|\bagent\b|\bCopilot\b|\blogged in\b|wants a key/u.test(reason)) {
        found.push({ title: "Choose Executor", command: "waza.chooseExecutor" });
    }
    const file = /(?:^|\s)(\/[^\s:]+\.ya?ml|[A-Za-z]:\\[^\s:]+\.ya?ml)/u.exec(reason)?.[1];
    if (file !== undefined) {
        found.push({ title: "Open File", command: "waza.openFile", argument: file });
    }
    return found.slice(0, 2);
}

/** A reason without the absolute path before it, which nobody reads first. */
export function reasonFirst(reason: string): string {
    const found = /^(?:\/|[A-Za-z]:\\)\S*?\.ya?ml:\s+(.+)$/su.exec(reason);
    return found?.[1] ?? reason;
}
