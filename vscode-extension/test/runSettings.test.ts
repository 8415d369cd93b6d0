import assert from "node:assert/strict";
import { test } from "node:test";
import { runEnvironment, runOptions, invalidSetting } from "../src/runSettings";

void test("empty settings leave the option to the suite", () => {
    assert.deepEqual(runOptions(() => undefined), {});
    const empty: Record<string, unknown> = { executor: "", model: " ", trials: 0, maxCost: 0 };
    assert.deepEqual(runOptions((name) => empty[name]), {});
});

void test("settings become options", () => {
    const values: Record<string, unknown> = { executor: "openai", judgeModel: "gpt-5", trials: 3, maxCost: 0.5, keepWorkspaces: true };
    assert.deepEqual(runOptions((name) => values[name]), { executor: "openai", judgeModel: "gpt-5", trials: 3, maxCost: 0.5, keepWorkspaces: true });
});

void test("the environment has only strings with valid names", () => {
    assert.deepEqual(runEnvironment({ A_1: "x", "B C": "y", D: 3 }), { A_1: "x" });
    assert.deepEqual(runEnvironment("text"), {});
});

void test("an invalid setting is named, with what to write", () => {
    const invalidOf = (settings: Record<string, unknown>) => invalidSetting((name) => settings[name]);
    for (const settings of [{}, { trials: 0, workers: 2, maxCost: 0.25, executor: "", model: "gpt-5", keepWorkspaces: true }]) {
        assert.equal(invalidOf(settings), undefined);
    }
    const invalidValues = { trials: [-2, 2.5, "many", "3"], workers: [-1, 0.5], maxCost: [-1, "0.50", true], executor: [5], keepWorkspaces: ["yes"] };
    for (const [name, values] of Object.entries(invalidValues)) {
        for (const value of values) {
            const found = invalidOf({ [name]: value });
            assert.equal(found?.name, `waza.run.${name}`);
            assert.match(found.words, new RegExp(`\`waza\\.run\\.${name}\` is ${JSON.stringify(value)}; write `, "u"));
            assert.deepEqual(runOptions((each) => (each === name ? value : undefined)), {}); // nor is it sent to the server
        }
    }
});

void test("an option of the run overrides an invalid setting", () => {
    const read = (name: string) => (name === "trials" ? -2 : undefined);
    assert.equal(invalidSetting(read, { trials: 3 }), undefined);
    assert.equal(invalidSetting(read, { model: "gpt-5" })?.name, "waza.run.trials");
});
