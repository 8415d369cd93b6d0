import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";
const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "repository");
for (const n of ["pdf", "docx", "alpha"]) {
  fs.mkdirSync(path.join(workspace, "skills", n), { recursive: true });
  fs.writeFileSync(path.join(workspace, "skills", n, "SKILL.md"), `---\nname: ${n}\ndescription: Does ${n}. Use when asked to ${n}.\n---\n# ${n}\n`);
}
const file = path.join(workspace, "evals", "pdf", "eval.yaml");
fs.mkdirSync(path.dirname(file), { recursive: true });
fs.writeFileSync(file, process.env.CRLF ? "\r\n" : "");
await play(scenario, { ...options, workspace });
async function scenario(page) {
  let n = 0;
  const shot = async (name) => page.screenshot({ path: path.join(artifacts, `${String(++n).padStart(2, "0")}-${name}.png`) });
  const red = () => page.locator(".squiggly-error").count();
  const list = () => page.locator(".suggest-widget.visible .monaco-list-row").allInnerTexts().then((t) => t.slice(0, 9).map((x) => x.replace(/\s+/g, " ")));
  const report = async (what) => { await page.waitForTimeout(700); console.log(what, "| red", await red(), "| list", JSON.stringify(await list())); await shot(what.replace(/\W+/g, "_")); };
  const text = async () => { await page.keyboard.press("Control+S"); await page.waitForTimeout(600); console.log(JSON.stringify(fs.readFileSync(file, "utf8"))); };
  const type = (t) => page.keyboard.type(t, { delay: 60 });
  const press = async (...keys) => { for (const k of keys) { await page.keyboard.press(k); await page.waitForTimeout(120); } };
  await step("type", async () => {
    await editor.openFile(page, "eval.yaml", "");
    await page.locator(".codelens-decoration a", { hasText: "New suite for skill pdf" }).first().waitFor();
    await type("nam"); await report("nam");
    await press("Tab"); await report("name taken");
    await type("My pdf evals"); await report("name typed");
    await press("Enter"); await report("enter"); 
    await type("ski"); await report("ski");
    await press("Tab"); await report("skill taken");
    await press("Tab"); await report("skill value taken");
    await press("Enter"); await type("conf"); await report("conf");
    await press("Tab"); await report("config taken");
    await press("Tab"); await report("config 2");
    await text(); await report("saved config");
    await press("Escape", "End", "Enter", "Backspace", "Backspace"); await type("tas"); await report("tas");
    await press("Tab"); await report("tasks taken"); 
    await press("Tab"); await report("tasks 2");
    await text(); 
    await press("Escape", "Control+End", "Enter"); await report("enter after tasks");
    await text();
    await press("Shift+Home", "Backspace"); await type("gra"); await report("gra");
    await press("Tab"); await report("graders taken"); await type("te"); await report("te");
    await press("Tab"); await report("type taken"); await text(); await report("saved type");
    await press("Control+End", "Enter"); await type("- "); await report("dash"); await text(); await report("dash saved");
  });
}
