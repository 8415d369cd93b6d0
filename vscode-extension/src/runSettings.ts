/** What the settings say about runs, in the words of `waza.run`; what they leave empty is as the suite says. */

export interface RunOptions {
    readonly executor?: string;
    readonly model?: string;
    readonly judgeExecutor?: string;
    readonly judgeModel?: string;
    readonly trials?: number;
    readonly workers?: number;
    readonly maxCost?: number;
    readonly cache?: boolean;
    readonly keepWorkspaces?: boolean;
}

const TEXTS = ["executor", "model", "judgeExecutor", "judgeModel"] as const;
const NUMBERS = ["trials", "workers", "maxCost"] as const;

/** @param read the value of a setting below `waza.run` */
export function runOptions(read: (name: string) => unknown): RunOptions {
    const found: Record<string, string | number | boolean> = {};
    for (const name of TEXTS) {
        const value = read(name);
        if (typeof value === "string" && value.trim() !== "") {
            found[name] = value.trim();
        }
    }
    for (const name of NUMBERS) {
        const value = read(name);
        if (typeof value === "number" && value > 0) {
            found[name] = value;
        }
    }
    if (read("keepWorkspaces") === true) {
        found["keepWorkspaces"] = true;
    }
    return found;
}

/** The variables that runs get from the settings; what is no name or no text is left out. */
export function runEnvironment(value: unknown): Record<string, string> {
    if (typeof value !== "object" || value === null) {
        return {};
    }
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(
        entries.filter((entry): entry is [string, string] => isVariable(entry[0]) && typeof entry[1] === "string"),
    );
}

/** Whether a variable of the environment may be called so. */
export function isVariable(name: string): boolean {
    return /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name);
}
