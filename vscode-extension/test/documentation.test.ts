import assert from "node:assert/strict";
import { test } from "node:test";
import type { Diagnostic, Uri } from "vscode";
import { diagnosticsMiddleware, linkPagesInText } from "../src/documentation";

void test("a link to a heading opens the page at that heading", () => {
    const shown = linkPagesInText("x\n\n[All about text](file:///opt/my%20docs/graders.md#text) and [a file](file:///a/b.yaml)");
    const [, query = ""] = /\]\(command:waza\.openPage\?([^)]+)\)/u.exec(shown) ?? [];
    assert.deepEqual(JSON.parse(decodeURIComponent(query)), ["file:///opt/my%20docs/graders.md#text"]);
    assert.ok(shown.endsWith("[a file](file:///a/b.yaml)"));
});

void test("no other link becomes a command", () => {
    for (const text of ["[x](https://e.org/a.md#b)", "[x](command:other?1.md#b)", "[x](file:///a.md)", "`](file:` .md#b)"]) {
        assert.equal(linkPagesInText(text), text);
    }
});

void test("the code of a diagnostic opens its page, whether pushed or pulled, and other links stay", async () => {
    const [page, file] = ["file:///opt/docs/diagnostics.md#unknown-key", "file:///a/eval.yaml"];
    const uri = (address: string) => ({ scheme: "file", path: address.replace(/^file:\/\/|#.*$/gu, ""), toString: () => address }) as never as Uri;
    const problems = (): Diagnostic[] => [page, file].map((address): Diagnostic => ({ message: "unless `--judge-executor` names one", code: { value: "unknown-key", target: uri(address) } }) as never);
    const query = `command:waza.openPage?${encodeURIComponent(JSON.stringify([page]))}`;
    const targets = (found: readonly Diagnostic[]) => found.map(({ code }) => ((code as { target: Uri }).target.fsPath as string | undefined) ?? file);
    let pushed: readonly Diagnostic[] = [];
    diagnosticsMiddleware.handleDiagnostics?.(uri(file), problems(), (_, found) => {
        pushed = found;
    });
    assert.deepEqual(targets(pushed), [query, file]);
    assert.equal(pushed[0]?.message, "unless `waza.run.judgeExecutor` names one");
    const full = { kind: "full", items: problems() } as never;
    const pulled = (await diagnosticsMiddleware.provideDiagnostics?.(uri(file), undefined, undefined as never, () => full)) as { items: Diagnostic[] };
    assert.deepEqual(targets(pulled.items), [query, file]);
    const parts: Diagnostic[] = [];
    const take = (part: { items: unknown[] } | null) => parts.push(...(part?.items as { items: Diagnostic[] }[]).flatMap(({ items }) => items));
    await diagnosticsMiddleware.provideWorkspaceDiagnostics?.([], undefined as never, take, (_, __, report) => {
        report({ items: [{ kind: "full", items: problems() } as never] });
        return { items: [] };
    });
    assert.deepEqual(targets(parts), [query, file]);
});
