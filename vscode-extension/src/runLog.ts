/** Logs a run in the output channel: its request, its events, and why it did not finish. */

import type { LogOutputChannel } from "vscode";
import { plain } from "./messages";
import { isReportedBy, optionsToSettings } from "./reasons";
import type { RunEvent } from "./runEvents";
import { shownScore } from "./runProgress";
import type { RunRequest } from "./runs";
import type { RunView } from "./runViews";

export class RunLog implements RunView {
    private ended: RunEvent | undefined;

    constructor(
        private readonly log: LogOutputChannel,
        private readonly request: RunRequest,
    ) {
        log.info(`waza.run ${plain(JSON.stringify(request))}`);
    }

    take(event: RunEvent): void {
        this.ended = event.kind === "ended" ? event : this.ended;
        const line = lineOf(event);
        const [prefix, rest] = [/^(warning|error): /u.exec(event.message ?? "")?.[1], plain(line)];
        if (prefix === "error" || event.kind === "errored") {
            this.log.error(rest);
        } else if (prefix === "warning") {
            this.log.warn(rest);
        } else {
            this.log.info(rest);
        }
    }

    end(problem: string | undefined): void {
        if (problem !== undefined && !isReportedBy(problem, this.ended)) {
            this.log.error(plain(`${optionsToSettings(problem)} (${this.request.id})`));
        }
    }
}

/** Returns an event as one line, such as `failed one trial 1: not passed: short`. */
export function lineOf(event: RunEvent): string {
    const trial = event.trial === undefined ? "" : `trial ${event.trial}`;
    const score = event.score === undefined ? "" : shownScore(event.score);
    const passed = event.kind === "graded" ? (event.status === "graded" ? (event.passed === true ? "passed" : "failed") : event.status) : "";
    const conclusion = event.conclusion === undefined ? [] : [event.conclusion.verdict, ...(event.conclusion.reasons ?? [event.conclusion.reason])];
    const why = optionsToSettings([...new Set([event.message, ...conclusion])].filter((word) => word !== undefined && word !== "").join(" · "));
    const parts = [event.kind, event.task, trial, event.grader === undefined ? undefined : (event.label ?? event.grader), passed, score, event.results_file].filter((word) => word !== undefined && word !== "");
    return why === "" ? parts.join(" ") : `${parts.join(" ")}: ${why}`;
}
