/** Reads the settings `waza.run.*`; the suite decides what they leave empty. */

export interface RunOptions {
    readonly executor?: string;
    readonly model?: string;
    readonly judgeExecutor?: string;
    readonly judgeModel?: string;
    readonly trials?: number;
    readonly workers?: number;
    readonly cluster?: string;
    readonly maxCost?: number;
    readonly cache?: boolean;
    readonly keepWorkspaces?: boolean;
}

const STRING_NAMES = ["executor", "model", "judgeExecutor", "judgeModel", "cluster"] as const;
/** Descriptions of the valid numbers, for messages. */
const NUMBERS = {
    trials: "a whole number of trials, or 0 for the number of the suite",
    workers: "a whole number of trials that run at the same time, or 0 for the number of the suite",
    maxCost: "a number of US dollars, or 0 for no limit",
} as const;

type NumberName = keyof typeof NUMBERS;
const NUMBER_NAMES = Object.keys(NUMBERS) as NumberName[];

/** An invalid setting, and the message about it. */
export interface InvalidSetting {
    /** The full name: `waza.run.trials`. */
    readonly name: string;
    readonly words: string;
}

/**
 * Returns the options of a run from the settings.
 *
 * @param read returns the value of a setting below `waza.run`
 */
export function runOptions(read: (name: string) => unknown): RunOptions {
    const found: Record<string, string | number | boolean> = {};
    for (const name of STRING_NAMES) {
        const value = read(name);
        if (typeof value === "string" && value.trim() !== "") {
            found[name] = value.trim();
        }
    }
    for (const name of NUMBER_NAMES) {
        const value = read(name);
        if (isNumber(name, value) && value > 0) {
            found[name] = value;
        }
    }
    if (read("keepWorkspaces") === true) {
        found["keepWorkspaces"] = true;
    }
    return found;
}

/**
 * Returns the first invalid setting: ignoring it would run the agent differently than intended, or without its budget.
 *
 * @param read returns the value of a setting below `waza.run`
 * @param chosen the options of this run, which override the settings
 */
export function invalidSetting(read: (name: string) => unknown, chosen: RunOptions = {}): InvalidSetting | undefined {
    const checks: [keyof RunOptions, boolean, string][] = [
        ...STRING_NAMES.map((name): [keyof RunOptions, boolean, string] => [name, isUnset(read(name)) || typeof read(name) === "string", "a string in quotes"]),
        ...NUMBER_NAMES.map((name): [keyof RunOptions, boolean, string] => [name, isUnset(read(name)) || isNumber(name, read(name)), NUMBERS[name]]),
        ["keepWorkspaces", isUnset(read("keepWorkspaces")) || typeof read("keepWorkspaces") === "boolean", "`true` or `false`"],
    ];
    const failed = checks.find(([name, isValid]) => !isValid && chosen[name] === undefined);
    if (failed === undefined) {
        return undefined;
    }
    const [name, , description] = failed;
    const setting = `waza.run.${name}`;
    return { name: setting, words: `The run was not started: the setting \`${setting}\` is ${JSON.stringify(read(name)).slice(0, 60)}; write ${description}.` };
}

function isUnset(value: unknown): boolean {
    return value === undefined || value === null;
}

function isNumber(name: NumberName, value: unknown): value is number {
    return typeof value === "number" && value >= 0 && (name === "maxCost" ? Number.isFinite(value) : Number.isInteger(value));
}

/** Returns the environment variables of the settings, without invalid names and values. */
export function runEnvironment(value: unknown): Record<string, string> {
    if (typeof value !== "object" || value === null) {
        return {};
    }
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(
        entries.filter((entry): entry is [string, string] => isVariable(entry[0]) && typeof entry[1] === "string"),
    );
}

/** Returns whether a name is valid for an environment variable. */
export function isVariable(name: string): boolean {
    return /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name);
}
