// Seeds two misspelt keys into a suite: one for the quick fix, one that stays for the picture.

import assert from "node:assert/strict";
import fs from "node:fs";

/**
 * Misspells the first `contains` of a text grader and the suite's `description`.
 *
 * @returns for each mistake the line with the mistake, the wrong and the right key; for the first also the grader's lines
 */
export function seedMistakes(file) {
  const lines = fs.readFileSync(file, "utf8").split("\n");
  const contains = lines.findIndex((line) => /^\s+contains:/.test(line));
  const description = lines.findIndex((line) => /^description:/.test(line));
  assert.ok(contains > 0 && description >= 0, `${file} has no description or no text grader with contains`);

  const ofGrader = lines.slice(0, contains);
  const graderLine = ofGrader.findLast((line) => /^\s+(- )?name:/.test(line)).trim();
  const graderType = /type: (\w+)/.exec(ofGrader.findLast((line) => /^\s+(- )?type:/.test(line)))[1];
  const repaired = lines[contains].trim();
  lines[contains] = lines[contains].replace("contains", "contians");
  lines[description] = lines[description].replace("description", "descripton");
  fs.writeFileSync(file, lines.join("\n"));
  return {
    toRepair: { line: lines[contains].trim(), wrong: "contians", right: "contains", repaired, graderLine, graderType },
    toKeep: { line: lines[description].trim().slice(0, 30), wrong: "descripton" },
  };
}
