import assert from "node:assert/strict";
import { test } from "node:test";
import { window } from "./fake/vscode";
import { confirm, plain, sentence } from "../src/messages";

void test("a link to a command becomes plain text", () => {
    assert.equal(plain("task [here](command:workbench.action.quit)"), "task [here] (command:workbench.action.quit)");
});

void test("invisible characters are escaped", () => {
    assert.equal(plain("a\u001b]0;b\u202ec"), "a\\u001b]0;b\\u202ec");
});

void test("a reason becomes a sentence", () => {
    assert.deepEqual(["there is nothing.", "`KEY` is not set."].map(sentence), ["There is nothing.", "`KEY` is not set."]);
});

void test("a question with pick opens a list", async () => {
    const calls: unknown[] = [];
    const choices = ["Run of 12 Nov 10:04, passed", "Trial 1"];
    Object.assign(window, {
        showQuickPick: (...args: unknown[]) => {
            calls.push(args);
            return Promise.resolve(calls.length === 1 ? "Trial 1" : undefined);
        },
    });
    const question = { message: "On which run?", choices, pick: true };
    assert.deepEqual([await confirm(question), await confirm(question)], ["Trial 1", null]);
    assert.deepEqual(calls[0], [choices, { title: "Waza", placeHolder: "On which run?" }]);
});

void test("a question is modal, and dismissing it is Cancel", async () => {
    const calls: unknown[] = [];
    const [original, answers] = [window.showWarningMessage, [{ title: "Run" }, undefined]];
    window.showWarningMessage = ((...args: unknown[]) => {
        calls.push(args);
        return Promise.resolve(answers.shift());
    }) as never;
    const question = { message: "[x](command:y) is outside.", choices: ["Run", "Cancel"] };
    assert.deepEqual([await confirm(question), await confirm(question)], ["Run", null]);
    window.showWarningMessage = original;
    const items = [{ title: "Run", isCloseAffordance: false }, { title: "Cancel", isCloseAffordance: true }];
    assert.deepEqual(calls[0], ["[x] (command:y) is outside.", { modal: true }, ...items]);
});
