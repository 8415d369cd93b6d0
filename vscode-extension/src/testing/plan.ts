/** Converts selected items to runs: one for each suite, of the selected items only. */

import { kindOf, promptOf, suiteIdOf } from "../runnables";
import { runnableOf } from "./reports";

/** The id of what runs when an item is run; undefined when a run leaves it out. */
type RunnableOf = (id: string) => string | undefined;

/** The argument of `waza.run`, as far as a choice decides it. */
export interface PlannedRun {
    readonly id: string;
    /** The tasks that a suite is limited to. */
    readonly tasks?: readonly string[];
    /** The trigger prompts that a suite is limited to. */
    readonly prompts?: readonly string[];
}

/**
 * Several graders of one suite become their tasks: an answer is judged as a whole, and the agent answers once.
 * Trigger prompts of one suite are tried in one run, that of its tasks when some are chosen, unless their whole suite runs.
 * A suite of which something must not run is its other tasks and prompts.
 *
 * @param chosen ids of items
 * @param excluded ids of items that must not run
 * @param runnable returns the runnable of an item
 * @param below returns the ids of the tasks and prompts of a suite
 */
export function plannedRuns(
    chosen: readonly string[],
    excluded: readonly string[] = [],
    runnable: RunnableOf = runnableOf,
    below: (suite: string) => readonly string[] = () => [],
): PlannedRun[] {
    const excludedIds = new Set(excluded);
    const bySuite = new Map<string, Set<string>>();
    const prompts = new Set<string>();
    const withoutExcluded = (id: string): readonly string[] => {
        const within = kindOf(id) === "suite" ? below(id) : [];
        return within.some((each) => excludedIds.has(each)) ? within.filter((each) => !excludedIds.has(each)) : [id];
    };
    for (const id of chosen.filter((each) => !excludedIds.has(each)).flatMap(withoutExcluded).map(runnable)) {
        if (id === undefined) {
            continue;
        }
        if (promptOf(id) !== undefined) {
            prompts.add(id);
            continue;
        }
        const suite = suiteIdOf(id);
        bySuite.set(suite, (bySuite.get(suite) ?? new Set()).add(id));
    }
    const separatePrompts = [...prompts].filter((id) => bySuite.get(suiteIdOf(id))?.has(suiteIdOf(id)) !== true);
    const withTasks = [...bySuite].map(([suite, ids]) => {
        const suitePrompts = separatePrompts.filter((id) => suiteIdOf(id) === suite);
        const run = planSuite(suite, [...ids]);
        return suitePrompts.length === 0 ? run : { id: suite, tasks: run.tasks ?? tasksAmong([...ids]).map(unescaped), prompts: textsOf(suitePrompts) };
    });
    return [...withTasks, ...planPrompts(separatePrompts.filter((id) => !bySuite.has(suiteIdOf(id))))];
}

/**
 * Returns what to re-grade for selected items: each once, with the items below it. Trigger prompts cannot be graded.
 *
 * @param chosen ids of items
 * @param excluded ids of items that are not meant
 * @param runnable returns the runnable of an item
 */
export function plannedRegrades(chosen: readonly string[], excluded: readonly string[] = [], runnable: RunnableOf = runnableOf): string[] {
    const excludedIds = new Set(excluded);
    const selected = new Set(chosen.filter((each) => !excludedIds.has(each)).map(runnable));
    const ids = [...selected].filter((id) => id !== undefined && promptOf(id) === undefined) as string[];
    return ids.filter((id) => !ids.some((other) => id.startsWith(`${other}::`)));
}

/** The ids of the suites that chosen items belong to, each once. */
export function suitesAmong(chosen: readonly string[]): string[] {
    return [...new Set(chosen.map((id) => suiteIdOf(runnableOf(id))))];
}

/**
 * Returns the selected items that have changed since their newest results. A grader counts as its task, because an answer is graded as a whole.
 *
 * @param chosen ids of items
 * @param affected ids of tasks, or of the suite when all of them are affected
 */
export function affectedAmong(chosen: readonly string[], affected: readonly string[]): string[] {
    const judged = chosen.map(runnableOf).filter((id) => promptOf(id) === undefined);
    const ids = [...new Set(judged.map((id) => id.split("::").slice(0, 2).join("::")))];
    const isIn = (id: string, other: string) => id === other || id.startsWith(`${other}::`);
    const changed = affected.filter((id) => ids.some((one) => isIn(id, one)));
    const ofWhole = ids.filter((id) => affected.some((one) => isIn(id, one)));
    return [...new Set([...changed, ...ofWhole])];
}

function planSuite(suite: string, ids: readonly string[]): PlannedRun {
    const [only] = ids;
    if (ids.includes(suite) || (ids.length === 1 && only !== undefined)) {
        return { id: ids.includes(suite) ? suite : (only ?? suite) };
    }
    const tasks = tasksAmong(ids);
    const [task] = tasks;
    return tasks.length === 1 && task !== undefined ? { id: `${suite}::${task}` } : { id: suite, tasks: tasks.map(unescaped) };
}

function planPrompts(ids: readonly string[]): PlannedRun[] {
    const suites = [...new Set(ids.map(suiteIdOf))];
    return suites.flatMap((suite) => {
        const suitePrompts = ids.filter((id) => suiteIdOf(id) === suite);
        return suitePrompts.length === 1 ? suitePrompts.map((id) => ({ id })) : [{ id: suite, prompts: textsOf(suitePrompts) }];
    });
}

/** A prompt in both lists is one prompt of a run, with two locations. */
function textsOf(prompts: readonly string[]): string[] {
    return [...new Set(prompts.map((id) => promptOf(id)?.text ?? ""))];
}

/** The tasks of a suite that ids of tasks and graders are in, as they are written there. */
function tasksAmong(ids: readonly string[]): string[] {
    return [...new Set(ids.map((id) => id.split("::")[1] ?? ""))];
}

function unescaped(name: string): string {
    return name.replaceAll("%3A", ":").replaceAll("%25", "%");
}
