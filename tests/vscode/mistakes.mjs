// Seeds two misspelt keys into a suite: one for the quick fix, one for the screenshot.

import assert from "node:assert/strict";
import fs from "node:fs";

/**
 * Misspells `contains` in an option of the first text grader that has it, and the suite's `description`.
 *
 * @returns for each mistake its line and the wrong key; for the first also the right key and the lines of its grader
 */
export function seedMistakes(file) {
  const lines = fs.readFileSync(file, "utf8").split("\n");
  const option = lines.findIndex((line) => /^\s+(not_)?contains:/.test(line));
  const description = lines.findIndex((line) => /^description:/.test(line));
  assert.ok(option > 0 && description >= 0, `${file} has no description or no text grader with contains or not_contains`);

  const above = lines.slice(0, option);
  const graderLine = above.findLast((line) => /^\s+(- )?name:/.test(line)).trim();
  const graderType = /type: (\w+)/.exec(above.findLast((line) => /^\s+(- )?type:/.test(line)))[1];
  const repaired = lines[option].trim();
  const right = repaired.split(":")[0];
  const wrong = right.replace("contains", "contians");
  lines[option] = lines[option].replace(right, wrong);
  lines[description] = lines[description].replace("description", "descripton");
  fs.writeFileSync(file, lines.join("\n"));
  return {
    toRepair: { line: lines[option].trim(), wrong, right, repaired, graderLine, graderType },
    toKeep: { line: lines[description].slice(0, 30).trim(), wrong: "descripton" },
  };
}
