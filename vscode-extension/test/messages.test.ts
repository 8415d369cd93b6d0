import assert from "node:assert/strict";
import { test } from "node:test";
import { window } from "./fake/vscode";
import { confirm, plain, sentence } from "../src/messages";

void test("a link to a command is no link any more", () => {
    assert.equal(plain("task [here](command:workbench.action.quit)"), "task [here] (command:workbench.action.quit)");
});

void test("what hides or turns text around is written out", () => {
    assert.equal(plain("a\u001b]0;b\u202ec"), "a\\u001b]0;b\\u202ec");
});

void test("a reason by itself begins as a sentence does", () => {
    assert.deepEqual(["there is nothing.", "`KEY` is not set."].map(sentence), ["There is nothing.", "`KEY` is not set."]);
});

void test("a question for one of several things opens a list", async () => {
    const asked: unknown[] = [];
    const choices = ["Run of 12 Nov 10:04, passed", "Trial 1"];
    Object.assign(window, {
        showQuickPick: (...given: unknown[]) => {
            asked.push(given);
            return Promise.resolve(asked.length === 1 ? "Trial 1" : undefined);
        },
    });
    const question = { message: "On which run?", choices, pick: true };
    assert.deepEqual([await confirm(question), await confirm(question)], ["Trial 1", null]);
    assert.deepEqual(asked[0], [choices, { title: "Waza", placeHolder: "On which run?" }]);
});

void test("what is asked before a run stands in front of all else, and leaving it is its Cancel", async () => {
    const asked: unknown[] = [];
    const [told, answers] = [window.showWarningMessage, [{ title: "Run" }, undefined]];
    window.showWarningMessage = ((...given: unknown[]) => {
        asked.push(given);
        return Promise.resolve(answers.shift());
    }) as never;
    const question = { message: "[x](command:y) is outside.", choices: ["Run", "Cancel"] };
    assert.deepEqual([await confirm(question), await confirm(question)], ["Run", null]);
    window.showWarningMessage = told;
    const items = [{ title: "Run", isCloseAffordance: false }, { title: "Cancel", isCloseAffordance: true }];
    assert.deepEqual(asked[0], ["[x] (command:y) is outside.", { modal: true }, ...items]);
});
