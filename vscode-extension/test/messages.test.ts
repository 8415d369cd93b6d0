import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "../src/messages";

void test("a link to a command is no link any more", () => {
    assert.equal(plain("task [here](command:workbench.action.quit)"), "task [here] (command:workbench.action.quit)");
});

void test("what hides or turns text around is written out", () => {
    assert.equal(plain("a\u001b]0;b\u202ec"), "a\\u001b]0;b\\u202ec");
});
