/** Converts selected items to runs: one for each suite, of the selected items only. */

import { decodedName, kindOf, promptOf, runnableOf, suiteIdOf } from "../itemIds";

/** Returns the id to run for an item; undefined if it cannot run. */
type RunnableOf = (id: string) => string | undefined;

/** The part of the argument of `waza.run` that a selection decides. */
export interface PlannedRun {
    readonly id: string;
    /** The tasks that a suite is limited to. */
    readonly tasks?: readonly string[];
    /** The trigger prompts that a suite is limited to. */
    readonly prompts?: readonly string[];
}

/**
 * Returns the runs for selected items.
 *
 * Several graders of one suite become their tasks: an answer is graded as a whole, and the agent answers once. Trigger prompts of one
 * suite share one run, together with its selected tasks. A suite with excluded items becomes its other tasks and prompts.
 *
 * @param chosen ids of items
 * @param excluded ids of items that must not run
 * @param runnable returns the id to run for an item
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
        return suitePrompts.length === 0 ? run : { id: suite, tasks: run.tasks ?? tasksAmong([...ids]).map(decodedName), prompts: textsOf(suitePrompts) };
    });
    return [...withTasks, ...planPrompts(separatePrompts.filter((id) => !bySuite.has(suiteIdOf(id))))];
}

/**
 * Returns the ids to re-grade for selected items, without those below another one. Trigger prompts cannot be re-graded.
 *
 * @param chosen ids of items
 * @param excluded ids of items that are not re-graded
 * @param runnable returns the id to run for an item
 */
export function plannedRegrades(chosen: readonly string[], excluded: readonly string[] = [], runnable: RunnableOf = runnableOf): string[] {
    const excludedIds = new Set(excluded);
    const selected = new Set(chosen.filter((each) => !excludedIds.has(each)).map(runnable));
    const ids = [...selected].filter((id) => id !== undefined && promptOf(id) === undefined) as string[];
    return ids.filter((id) => !ids.some((other) => id.startsWith(`${other}::`)));
}

/** Returns the ids of the suites of selected items, each once. */
export function suitesAmong(chosen: readonly string[]): string[] {
    return [...new Set(chosen.map((id) => suiteIdOf(runnableOf(id))))];
}

/**
 * Returns the selected items that have changed since their newest results. A grader counts as its task.
 *
 * @param chosen ids of items
 * @param affected ids of tasks, or of the suite if all its tasks are affected
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
    return tasks.length === 1 && task !== undefined ? { id: `${suite}::${task}` } : { id: suite, tasks: tasks.map(decodedName) };
}

function planPrompts(ids: readonly string[]): PlannedRun[] {
    const suites = [...new Set(ids.map(suiteIdOf))];
    return suites.flatMap((suite) => {
        const suitePrompts = ids.filter((id) => suiteIdOf(id) === suite);
        return suitePrompts.length === 1 ? suitePrompts.map((id) => ({ id })) : [{ id: suite, prompts: textsOf(suitePrompts) }];
    });
}

/** Returns the texts of prompts; a prompt in both lists of a suite is one prompt of a run. */
function textsOf(prompts: readonly string[]): string[] {
    return [...new Set(prompts.map((id) => promptOf(id)?.text ?? ""))];
}

/** Returns the encoded names of the tasks of task and grader ids. */
function tasksAmong(ids: readonly string[]): string[] {
    return [...new Set(ids.map((id) => id.split("::")[1] ?? ""))];
}
