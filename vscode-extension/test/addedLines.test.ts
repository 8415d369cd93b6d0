import assert from "node:assert/strict";
import { test } from "node:test";
import { addedLines } from "../src/addedLines";

const BEFORE = "name: a\ngraders:\n  - type: text\n    name: one\nmetrics: []\n";

void test("added lines are between the common prefix and suffix", () => {
    const after = BEFORE.replace("metrics", "  - type: code\n    name: two\nmetrics");
    assert.deepEqual(addedLines(BEFORE, after), { first: 4, last: 5 });
    assert.deepEqual(addedLines(BEFORE, `${BEFORE}graders:\n  - type: code\n`), { first: 5, last: 6 });
});

void test("different line endings are not a change", () => {
    const after = BEFORE.replace("metrics", "  - type: code\nmetrics").replaceAll("\n", "\r\n");
    assert.deepEqual(addedLines(BEFORE, after), { first: 4, last: 4 });
});

void test("without an added line the first line is shown", () => {
    assert.deepEqual(addedLines(BEFORE, BEFORE), { first: 0, last: 0 });
    assert.deepEqual(addedLines(BEFORE, BEFORE.replace("metrics: []\n", "")), { first: 0, last: 0 });
});
