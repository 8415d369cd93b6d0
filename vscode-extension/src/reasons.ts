/** The reasons that the engine and the server give, as this extension shows them: without paths in front, and with settings in place of options. */

import type { RunEvent } from "./runEvents";

export const JUDGE_EXECUTOR = "waza.run.judgeExecutor";
/** The settings by the options of the command line. */
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

/** A file and perhaps a line, counted from 1. */
export interface FileLocation {
    readonly file: string;
    readonly line?: number;
}

/** Returns a reason without the paths before it; a line number is added at its end. */
export function reasonFirst(reason: string): string {
    const { words, place } = splitLocation(reason);
    const name = place?.file.split(/[/\\]/u).at(-1) ?? "";
    return place?.line === undefined ? words : `${words} (${name}, line ${String(place.line)})`;
}

/** Splits a reason from the paths before it, and returns the last of these, which it is about. */
export function splitLocation(reason: string): { readonly words: string; readonly place?: FileLocation } {
    const [, file, line, words] = /^((?:\/|[A-Za-z]:\\)[^\n]*?\.\w+):(?:(\d+):)?\s+(.+)$/su.exec(reason) ?? [];
    if (file === undefined || words === undefined) {
        return { words: optionsToSettings(reason) };
    }
    return { place: { file, ...(line === undefined ? {} : { line: Number(line) }) }, ...splitLocation(words) };
}

/** Replaces options of the command line by settings: `--judge-executor openai` by `waza.run.judgeExecutor: openai`. */
export function optionsToSettings(words: string): string {
    return replaceOptions(words, () => true);
}

/** Replaces only the options that no other program has: the text may quote programs with their own `--model`. */
export function engineOptionsToSettings(words: string): string {
    return replaceOptions(words, (flag) => flag.startsWith("--judge-") || flag === "--max-cost" || flag === "--keep-workspace");
}

/** Returns whether the last event of a run contains a reason. */
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
