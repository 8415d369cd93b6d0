import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

const ROOT = process.cwd();
const manifest = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
    icon: string;
    contributes: {
        commands: { command: string }[];
        keybindings: { command: string }[];
        walkthroughs: { steps: { description: string; media: { markdown: string }; completionEvents?: string[] }[] }[];
    };
};
const commands = new Set(manifest.contributes.commands.map(({ command }) => command));
const shipped = fs.readFileSync(path.join(ROOT, ".vscodeignore"), "utf8").split("\n");

void test("the walkthrough has five steps, and every command in it is one of the extension", () => {
    const steps = manifest.contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
    assert.equal(steps.length, 5);
    for (const { description, media, completionEvents } of steps) {
        const named = [...description.matchAll(/command:([\w.]+)/g)].map((match) => match[1] ?? "");
        const awaited = (completionEvents ?? []).map((event) => event.replace("onCommand:", ""));
        assert.deepEqual([...named, ...awaited].filter((command) => !commands.has(command)), []);
        assert.ok(fs.existsSync(path.join(ROOT, media.markdown)), media.markdown);
    }
    assert.ok(shipped.includes("!walkthrough/*.md"));
});

void test("shortcuts call commands of the extension", () => {
    const unknown = manifest.contributes.keybindings.filter(({ command }) => !commands.has(command));
    assert.deepEqual(unknown, []);
});

void test("the icon is a picture of 128 pixels or more, and is shipped", () => {
    const header = fs.readFileSync(path.join(ROOT, manifest.icon)).subarray(0, 24);
    assert.equal(header.toString("latin1", 1, 4), "PNG");
    assert.ok(header.readUInt32BE(16) >= 128 && header.readUInt32BE(20) >= 128);
    assert.ok(shipped.includes(`!${manifest.icon}`));
});
