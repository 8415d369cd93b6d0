import assert from "node:assert/strict";
import { test } from "node:test";
import { withPages } from "../src/documentation";

void test("a link to a heading of a page is one that shows the page there", () => {
    const shown = withPages("x\n\n[All about text](file:///opt/my%20docs/graders.md#text) and [a file](file:///a/b.yaml)");
    const [, asked = ""] = /\]\(command:waza\.openPage\?([^)]+)\)/u.exec(shown) ?? [];
    assert.deepEqual(JSON.parse(decodeURIComponent(asked)), ["file:///opt/my%20docs/graders.md#text"]);
    assert.ok(shown.endsWith("[a file](file:///a/b.yaml)"));
});

void test("no other link becomes a command", () => {
    for (const text of ["[x](https://e.org/a.md#b)", "[x](command:other?1.md#b)", "[x](file:///a.md)", "`](file:` .md#b)"]) {
        assert.equal(withPages(text), text);
    }
});
