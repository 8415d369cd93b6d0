import assert from "node:assert/strict";
import { test } from "node:test";
import { runEnvironment, runOptions } from "../src/runSettings";

void test("what the settings leave empty is as the suite says", () => {
    assert.deepEqual(runOptions(() => undefined), {});
    const empty: Record<string, unknown> = { executor: "", model: " ", trials: 0, maxCost: 0 };
    assert.deepEqual(runOptions((name) => empty[name]), {});
});

void test("what they say is handed on", () => {
    const said: Record<string, unknown> = { executor: "openai", judgeModel: "gpt-5", trials: 3, maxCost: 0.5, keepWorkspaces: true };
    assert.deepEqual(runOptions((name) => said[name]), { executor: "openai", judgeModel: "gpt-5", trials: 3, maxCost: 0.5, keepWorkspaces: true });
});

void test("only texts under names of variables come into the environment", () => {
    assert.deepEqual(runEnvironment({ A_1: "x", "B C": "y", D: 3 }), { A_1: "x" });
    assert.deepEqual(runEnvironment("text"), {});
});
