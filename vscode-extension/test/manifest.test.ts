import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

const ROOT = process.cwd();
const source = fs.readFileSync(path.join(ROOT, "package.json"), "utf8");
const strings = JSON.parse(fs.readFileSync(path.join(ROOT, "package.nls.json"), "utf8")) as Record<string, string>;

interface MenuItem {
    command?: string;
    submenu?: string;
    when?: string;
}

/** The manifest with its strings inserted, as VS Code reads it. */
const manifest = JSON.parse(source, (_, value: unknown) => {
    const key = typeof value === "string" ? /^%(.+)%$/u.exec(value)?.[1] : undefined;
    return key === undefined ? value : strings[key];
}) as {
    icon: string;
    activationEvents: string[];
    contributes: {
        commands: { command: string; title?: string; category?: string }[];
        chatSkills: { path: string }[];
        submenus: { id: string }[];
        problemMatchers: { pattern: { regexp: string } }[];
        menus: Record<string, MenuItem[]>;
        keybindings: MenuItem[];
        walkthroughs: { steps: { description: string; media: { markdown: string }; completionEvents?: string[] }[] }[];
    };
};
/** Commands that are useful whatever is open. */
const ANYWHERE = [
    "waza.restartServer",
    "waza.showLog",
    "waza.selectInterpreter",
    "waza.createEnvironment",
    "waza.setProviderKey",
    "waza.chooseExecutor",
    "waza.logIn",
];
const SHOWN_TO_PEOPLE = new Set([
    "displayName",
    "title",
    "description",
    "markdownDescription",
    "deprecationMessage",
    "markdownDeprecationMessage",
    "enumDescriptions",
    "enumItemLabels",
    "markdownEnumDescriptions",
]);
const commands = new Set(manifest.contributes.commands.map(({ command }) => command));
const CONTEXT_KEYS = fs.readFileSync(path.join(ROOT, "src", "contextKeys.ts"), "utf8");
const shipped = fs.readFileSync(path.join(ROOT, ".vscodeignore"), "utf8").split("\n");

void test("the walkthrough has five steps, and every command in it exists", () => {
    const steps = manifest.contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
    assert.equal(steps.length, 5);
    for (const { description, media, completionEvents } of steps) {
        const named = [...description.matchAll(/command:([\w.]+)/g)].map((match) => match[1] ?? "");
        const events = completionEvents ?? [];
        assert.deepEqual(named.filter((command) => !commands.has(command)), []);
        const contexts = events.map((event) => event.replace("onContext:", "")); // a step may be completed by several commands
        assert.equal(contexts.length, 1);
        assert.deepEqual(contexts.filter((context) => !CONTEXT_KEYS.includes(`"setContext", "${context}"`)), []);
        assert.ok(fs.existsSync(path.join(ROOT, media.markdown)), media.markdown);
    }
    assert.ok(shipped.includes("!walkthrough/*.md"));
});

void test("the chat skill is shipped, and its folder has its name", () => {
    for (const { path: file } of manifest.contributes.chatSkills) {
        const text = fs.readFileSync(path.join(ROOT, file), "utf8");
        assert.ok(text.startsWith(`---\nname: ${path.basename(path.dirname(file))}\ndescription: `));
    }
    assert.ok(shipped.includes("!skills/*/SKILL.md"));
});

void test("shortcuts call commands of the extension or go to test failures", () => {
    const known = (command = "") => commands.has(command) || /^testing\.goTo(Next|Previous)Message$/u.test(command);
    const unknown = manifest.contributes.keybindings.filter(({ command }) => !known(command));
    assert.deepEqual(unknown, []);
});

void test("commands that use the engine are offered in trusted workspaces only", () => {
    const offered = ["testing/item/context", "testing/message/context", "editor/title/run", "waza.editor", "waza.explorer", "explorer/context"].flatMap((menu) => manifest.contributes.menus[menu] ?? []);
    assert.ok(offered.length > 0);
    assert.deepEqual(offered.filter(({ when }) => when?.includes("isWorkspaceTrusted") !== true), []);
});

void test("each submenu is in the menu of the editor or the Explorer and has entries", () => {
    const shown = ["editor/context", "explorer/context"].flatMap((menu) => manifest.contributes.menus[menu] ?? []).flatMap(({ submenu }) => submenu ?? []);
    assert.deepEqual(shown, manifest.contributes.submenus.map(({ id }) => id));
    for (const { id } of manifest.contributes.submenus) {
        assert.ok((manifest.contributes.menus[id] ?? []).length >= 4, id);
    }
});

void test("the shortcuts of runs wait for a server that has not answered yet", () => {
    for (const { when } of manifest.contributes.keybindings.filter(({ command }) => command?.startsWith("waza.run"))) {
        assert.match(when ?? "", /\(waza:canRun \|\| resource not in waza:known && /u);
    }
});

void test("the problem matcher reads what the command check prints", () => {
    const { regexp } = manifest.contributes.problemMatchers[0]?.pattern ?? assert.fail();
    const match = (line: string) => new RegExp(regexp, "u").exec(line)?.slice(1);
    assert.deepEqual(match("evals/a b/eval.yaml:3:12: error[unknown-key] There is no key `a`."), [
        "evals/a b/eval.yaml",
        "3",
        "12",
        "error",
        "unknown-key",
        "There is no key `a`.",
    ]);
    assert.equal(match("C:\\evals\\eval.yaml:3:12: information[x] y")?.[3], "info");
    assert.equal(match("3 files checked: no problems"), undefined);
});

void test("the icon has 128 pixels or more and is shipped", () => {
    const header = fs.readFileSync(path.join(ROOT, manifest.icon)).subarray(0, 24);
    assert.equal(header.toString("latin1", 1, 4), "PNG");
    assert.ok(header.readUInt32BE(16) >= 128 && header.readUInt32BE(20) >= 128);
    assert.ok(shipped.includes(`!${manifest.icon}`));
});

void test("package.nls.json has exactly the strings that users see", () => {
    const named = [...source.matchAll(/"%(.+?)%"/gu)].map((match) => match[1] ?? "");
    assert.deepEqual([...new Set(named)].sort(), Object.keys(strings).sort());
    assert.ok(shipped.includes("!package.nls.json"));
    const literal: string[] = [];
    JSON.parse(source, (key, value: unknown) => {
        if (SHOWN_TO_PEOPLE.has(key)) {
            literal.push(...[value].flat().filter((each): each is string => typeof each === "string" && !/^%.+%$/u.test(each)));
        }
        return value;
    });
    assert.deepEqual(literal, []);
});

void test("every command has a title and a category, and is offered where it works or works anywhere", () => {
    const palette = new Map(manifest.contributes.menus["commandPalette"]?.map(({ command, when }) => [command, when]));
    for (const { command, title, category } of manifest.contributes.commands) {
        assert.ok(title, command);
        assert.equal(category, "Waza", command);
        assert.notEqual(Boolean(palette.get(command)), ANYWHERE.includes(command), command);
    }
    const unknown = [...palette.keys(), ...ANYWHERE].filter((command) => !commands.has(command ?? ""));
    assert.deepEqual(unknown, []);
});

void test("run commands are offered in trusted workspaces only", () => {
    const items = [...Object.values(manifest.contributes.menus).flat(), ...manifest.contributes.keybindings];
    const runs = items.filter(({ command }) => command?.startsWith("waza.run"));
    assert.ok(runs.length >= 5);
    assert.deepEqual(runs.filter(({ when }) => !/(?:^|&& )isWorkspaceTrusted/u.test(when ?? "")), []);
});

void test("the extension sets every context key that a condition uses", () => {
    const contextKeys = new Set([...source.matchAll(/waza:\w+/gu)].map(([key]) => key));
    const files = fs.readdirSync(path.join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const code = files.map((file) => fs.readFileSync(path.join(ROOT, "src", file), "utf8")).join("");
    assert.ok(contextKeys.has("waza:canRun"));
    assert.deepEqual([...contextKeys].filter((key) => !code.includes(`"setContext", "${key}"`)), []);
});

void test("no JSON file of another tool starts the extension", () => {
    const ofJson = manifest.activationEvents.filter((event) => event.includes("json"));
    assert.deepEqual(ofJson, ["workspaceContains:**/{evals,*.evals}.json", "workspaceContains:**/prompts.{jsonl,ndjson}"]);
});
