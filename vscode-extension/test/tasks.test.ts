import assert from "node:assert/strict";
import { test } from "node:test";
import type { Task, TaskProvider } from "vscode";
import { taskProviders } from "./fake/vscode";
import { registerTasks } from "../src/programs";

const PYTHON = { command: "/usr/bin/python3", args: ["-X", "utf8"], origin: "PATH" };

/** Registers the tasks with a Python that is known at once, only after the server was started, or never. */
function provider(known: "at once" | "when reached" | "never"): TaskProvider {
    registerTasks((ensureServer) => Promise.resolve(known === "at once" || (ensureServer && known === "when reached") ? PYTHON : undefined));
    return taskProviders["waza"] as TaskProvider;
}

function executionOf(task: Task | null | undefined): unknown {
    const { process, args, options } = task?.execution as unknown as { process: string; args: string[]; options: object };
    return { process, args, options };
}

const FOLDER = { uri: { fsPath: "/ws/alpha" } };

void test("a task of tasks.json runs a suite with the Python of the server", async () => {
    const definition = { type: "waza", command: "run", path: "evals/a/eval.yaml", args: ["--trials", "3"] };
    const task = await provider("when reached").resolveTask({ definition, scope: FOLDER } as unknown as Task, undefined as never);
    assert.deepEqual(executionOf(task), {
        process: "/usr/bin/python3",
        args: ["-X", "utf8", "-P", "-m", "waza_engine", "run", "evals/a/eval.yaml", "--trials", "3"],
        options: { cwd: "/ws/alpha" },
    });
    assert.equal(task?.problemMatchers, "$waza");
});

void test("checking each open folder is offered once a Python is known", async () => {
    const offered = (await provider("at once").provideTasks(undefined as never)) ?? [];
    assert.deepEqual(offered.map(({ name }) => name), ["check .", "check ."]);
    assert.deepEqual(await provider("when reached").provideTasks(undefined as never), []);
});

void test("without a Python there is no task", async () => {
    const task = { definition: { type: "waza", command: "check" }, scope: FOLDER } as unknown as Task;
    assert.equal(await provider("never").resolveTask(task, undefined as never), undefined);
});
