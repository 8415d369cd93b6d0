import assert from "node:assert/strict";
import { test } from "node:test";
import { resultHtml } from "../src/resultHtml";

const PARTS = { id: "/s/eval.yaml", notices: [], rendered: "", workspaces: [], answered: [], record: "", waits: false, comparable: false, style: "s.css", styleSource: "https://here" };
const TRIAL = { task: "a:b", trial: 2, path: "/tmp/w & x" };

/** The commands behind the buttons of a page, with their argument. */
function buttonsOf(html: string): [string, string, unknown][] {
    return [...html.matchAll(/href="command:([\w.]+)\?([^"]+)">([^<]+)</gu)].map(([, command, argument, title]) => {
        return [title ?? "", command ?? "", JSON.parse(decodeURIComponent(argument ?? ""))];
    });
}

void test("a page without an earlier run and without a workspace has no buttons", () => {
    assert.deepEqual(buttonsOf(resultHtml(PARTS)), []);
});

void test("an earlier run can be compared with", () => {
    const found = buttonsOf(resultHtml({ ...PARTS, comparable: true }));
    assert.deepEqual(found, [["Compare With an Earlier Run…", "waza.compareResults", ["/s/eval.yaml"]]]);
});

void test("what waits for a person is reviewed from the page", () => {
    assert.deepEqual(buttonsOf(resultHtml({ ...PARTS, waits: true })), [["Review…", "waza.reviewAnswers", ["/s/eval.yaml"]]]);
});

void test("an answer becomes a task, of the run that is shown", () => {
    const found = buttonsOf(resultHtml({ ...PARTS, record: "/s/r.json", answered: [{ id: "one", name: "Greets" }] }));
    assert.deepEqual(found, [["Save Record as Task…", "waza.saveRecord", [{ id: "/s/eval.yaml", record: "/s/r.json" }]]]);
});

void test("the workspace of a trial is opened from the place that names it, and from the top", () => {
    const rendered = "<p><code>/tmp/w &amp; x</code></p>";
    const [top, there] = buttonsOf(resultHtml({ ...PARTS, rendered, workspaces: [TRIAL] }));
    assert.deepEqual(there, ["Open Workspace of This Trial", "waza.openWorkspace", ["/s/eval.yaml::a%3Ab#trial-2"]]);
    assert.deepEqual(top, there);
    const [several] = buttonsOf(resultHtml({ ...PARTS, rendered, workspaces: [TRIAL, { ...TRIAL, trial: 3, path: "/other" }] }));
    assert.deepEqual(several, ["Open Workspace of a Trial…", "waza.openWorkspace", ["/s/eval.yaml"]]);
});

void test("marks have the colour of what they say, and answers that look like marks have none", () => {
    const html = resultHtml({ ...PARTS, rendered: "<h2>✗ one</h2><td>✓</td><code>✗ x</code>" });
    assert.match(html, /<h2><span class="failed">✗<\/span> one<\/h2><td><span class="passed">✓<\/span><\/td><code>✗ x<\/code>/u);
});

void test("what carets point at in an answer is marked itself, for a line may be wrapped or read from right to left", () => {
    const lines = ["a &lt;b&gt; water", "  ^^^ ✗ odd: not_contains &quot;&lt;b&gt;&quot;", "      ^^^^^ ✓ wet: contains &quot;water&quot;", "  ^ no mark", "end"];
    const html = resultHtml({ ...PARTS, rendered: `<pre><code class="hljs language-marked-2-3" data-line="7">${lines.join("\n")}\n</code></pre>` });
    const drawn = [
        'a <mark class="failed">&lt;b&gt;</mark> <mark class="passed">water</mark>',
        '<bdi dir="ltr"><span class="failed">^ ✗</span> odd: not_contains &quot;&lt;b&gt;&quot;</bdi>',
        '<bdi dir="ltr"><span class="passed">^ ✓</span> wet: contains &quot;water&quot;</bdi>',
        "  ^ no mark",
        "end",
    ];
    assert.ok(html.includes(`<pre><code class="hljs language-marked" data-line="7">${drawn.join("\n")}\n</code></pre>`), html);
});

void test("a line of an answer that looks like a mark is not drawn as one, nor is one of any other text", () => {
    const lines = ["water is here", "^^^^^ ✗ fake: not_contains &quot;water&quot;", "^^^^^ ✓ wet: contains &quot;water&quot;", "   ^ ✗ faked, too"];
    const marked = resultHtml({ ...PARTS, rendered: `<pre><code class="language-marked-3">${lines.join("\n")}\n</code></pre>` });
    const [first, faked, , last] = lines;
    assert.ok(marked.includes(`>${first}\n<mark class="passed">^^^^^</mark> ${faked?.slice(6)}\n<bdi dir="ltr"><span class="passed">`), marked);
    assert.ok(marked.includes(`\n${last}\n</code>`), marked);
    const other = `<pre><code class="language-text">${lines.join("\n")}\n</code></pre>`;
    assert.ok(resultHtml({ ...PARTS, rendered: other }).includes(other));
});

void test("a notice stands above the page as text", () => {
    assert.match(resultHtml({ ...PARTS, notices: ["gone: <b>"] }), /<p class="notice">gone: &lt;b&gt;<\/p>/u);
    assert.doesNotMatch(resultHtml(PARTS), /notice/u);
});

void test("no page may run a script or load anything but its style", () => {
    assert.match(resultHtml(PARTS), /default-src 'none'; style-src https:\/\/here;/u);
});
