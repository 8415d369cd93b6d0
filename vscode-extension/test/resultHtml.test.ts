import assert from "node:assert/strict";
import { test } from "node:test";
import { resultHtml } from "../src/resultHtml";

const PARTS = { id: "/s/eval.yaml", notices: [], rendered: "", workspaces: [], answered: [], tasks: [], record: "", waits: false, comparable: false, style: "s.css", styleSource: "https://here" };
const TRIAL = { task: "a:b", trial: 2, path: "/tmp/w & x" };

/** Returns the title, the command and the arguments of each button. */
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

void test("a page with pending answers has a Review button", () => {
    assert.deepEqual(buttonsOf(resultHtml({ ...PARTS, waits: true })), [["Review…", "waza.reviewAnswers", ["/s/eval.yaml"]]]);
});

void test("an answer of the shown run can be saved as a task", () => {
    const found = buttonsOf(resultHtml({ ...PARTS, record: "/s/r.json", answered: [{ id: "one", name: "Greets" }] }));
    assert.deepEqual(found, [
        ["Run Again", "waza.run", [{ id: "/s/eval.yaml" }]],
        ["Re-grade", "waza.regrade", [{ id: "/s/eval.yaml" }]],
        ["Save Record as Task…", "waza.saveRecord", [{ id: "/s/eval.yaml", record: "/s/r.json" }]],
        ["Open Record", "waza.openFile", [{ file: "/s/r.json" }]],
    ]);
});

void test("the workspace of a trial is opened next to its path and from the top", () => {
    const rendered = "<p><code>/tmp/w &amp; x</code></p>";
    const [top, there] = buttonsOf(resultHtml({ ...PARTS, rendered, workspaces: [TRIAL] }));
    assert.deepEqual(there, ["Open Workspace of This Trial", "waza.openWorkspace", ["/s/eval.yaml::a%3Ab#trial-2"]]);
    assert.deepEqual(top, there);
    const [several] = buttonsOf(resultHtml({ ...PARTS, rendered, workspaces: [TRIAL, { ...TRIAL, trial: 3, path: "/other" }] }));
    assert.deepEqual(several, ["Open Workspace of a Trial…", "waza.openWorkspace", ["/s/eval.yaml"]]);
});

void test("marks are coloured by their verdict, and similar text in answers is not", () => {
    const html = resultHtml({ ...PARTS, rendered: "<h2>✗ one</h2><li>✓ a</li><code>✗ x</code>" });
    assert.match(html, /<h2><span class="failed">✗<\/span> one<\/h2><li><span class="passed">✓<\/span> a<\/li><code>✗ x<\/code>/u);
});

void test("text above carets in an answer is highlighted", () => {
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

void test("a line of an answer that looks like a mark is not highlighted", () => {
    const lines = ["water is here", "^^^^^ ✗ fake: not_contains &quot;water&quot;", "^^^^^ ✓ wet: contains &quot;water&quot;", "   ^ ✗ faked, too"];
    const marked = resultHtml({ ...PARTS, rendered: `<pre><code class="language-marked-3">${lines.join("\n")}\n</code></pre>` });
    const [first, faked, , last] = lines;
    assert.ok(marked.includes(`>${first}\n<mark class="passed">^^^^^</mark> ${faked?.slice(6)}\n<bdi dir="ltr"><span class="passed">`), marked);
    assert.ok(marked.includes(`\n${last}\n</code>`), marked);
    const other = `<pre><code class="language-text">${lines.join("\n")}\n</code></pre>`;
    assert.ok(resultHtml({ ...PARTS, rendered: other }).includes(other));
});

void test("a notice is shown above the page as text", () => {
    assert.match(resultHtml({ ...PARTS, notices: ["gone: <b>"] }), /<p class="notice">gone: &lt;b&gt;<\/p>/u);
    assert.doesNotMatch(resultHtml(PARTS), /notice/u);
});

void test("the page runs no script and loads only its style sheet", () => {
    assert.match(resultHtml(PARTS), /default-src 'none'; style-src https:\/\/here;/u);
});

const PAGE = `<h1>greeter</h1>
<h2 data-line="3">✗ <code>b &amp; c</code>: failed</h2>
<h4>Graders</h4>
<p class="code-line"><strong>✗ <code>says</code></strong> 0.00 (<code>text</code>)</p><ul><li>✗ <code>a|b</code></li></ul>
<p class="code-line"><strong>✓ <code>short</code></strong> 1.00 (<code>code</code>)</p><ul><li>✓ <code>len</code></li></ul>
<h4>Used</h4><p>0.1 s</p>
<h2 data-line="9">✓ <code>a</code>: passed</h2><p>fine</p>`;
const TASKS = [{ id: "b", name: "b & c" }, { id: "a", name: "a" }];

void test("tasks can be filtered by state, and the contents link to each", () => {
    const html = resultHtml({ ...PARTS, rendered: PAGE, tasks: TASKS });
    assert.match(html, /<section class="of failed" id="part-0"><h2[^]*<section class="of passed" id="part-1">/u);
    assert.deepEqual([...html.matchAll(/href="#(part-\d)"/gu)].map(([, part]) => part), ["part-0", "part-1"]);
    assert.deepEqual([...html.matchAll(/id="show-(\w+)"/gu)].map(([, state]) => state), ["all", "failed", "passed"]);
    assert.doesNotMatch(resultHtml({ ...PARTS, rendered: "<h2>✓ <code>a</code></h2>", tasks: TASKS }), /class="contents"/u);
});

void test("graders that passed are collapsed, and each links to its line", () => {
    const html = resultHtml({ ...PARTS, rendered: PAGE, tasks: TASKS });
    const folded = [...html.matchAll(/<details( open)?><summary><strong><span class="\w+">.<\/span> <code>(\w+)/gu)];
    assert.deepEqual(folded.map(([, open, name]) => [name, open === " open"]), [["says", true], ["short", false]]);
    assert.match(html, /<li><span class="passed">✓<\/span> <code>len<\/code><\/li><\/ul>\n<\/details><h4>Used/u);
    const lines = buttonsOf(html).filter(([title]) => title === "Go to Line");
    assert.deepEqual(lines, ["says", "short"].map((grader) => ["Go to Line", "waza.openJudged", [{ task: "/s/eval.yaml::b", grader }]]));
});
