// Actions and observations of a user in the text editor of a VS Code page.

import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE } from "./workbench.mjs";

/** Opens a file of the workspace by name, or by the end of its path, and waits until its text is drawn and focused. */
export async function openFile(page, name, expectedText) {
  const input = page.locator(".quick-input-widget input:not([type=checkbox])");
  const rows = page.locator(".quick-input-list .monaco-list-row", { hasText: name.split("/").at(-1) });
  const wanted = name.includes("/") ? rows.filter({ hasText: name.split("/").at(-2) }).first() : rows.first();
  const choose = async () => {
    await page.keyboard.press("Escape");
    await openList(page, "Control+P", input);
    await ask(input, name);
    await wanted.waitFor({ timeout: 20_000 });
    await wanted.click({ timeout: 10_000 });
  };
  // The focus comes last: until then the list stays open over an open file, and the cursor is restored.
  const isReady = async () => !(await input.isVisible()) && (await hasKeys(page)) && (await hasLine(page, expectedText));
  await repeatUntil(page, `${name} to open`, choose, isReady);
}

/**
 * Opens a list by its shortcut. A focused webview, such as a result page, swallows keys until its script has loaded, so the workbench
 * is focused first.
 */
async function openList(page, key, input) {
  if (await input.isVisible()) await page.keyboard.press("Escape");
  await page.evaluate(() => {
    if (document.activeElement?.tagName !== "IFRAME") return;
    document.activeElement.blur();
    document.querySelector(".tab.active")?.focus();
  });
  await page.keyboard.press(key);
  await input.waitFor({ timeout: 10_000 });
}

/** Sets the input of a list directly: typed text would go into the file below if the list closes in between. */
async function ask(input, text) {
  await input.evaluate((field, value) => {
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, text);
}

/** Returns whether a text editor has the focus. */
function hasKeys(page) {
  return page.evaluate(() => Boolean(document.activeElement?.closest(".editor-instance")));
}

/** Waits until a line that contains `text` is on the screen. */
export async function waitForLine(page, text) {
  await waitUntil(page, `the line "${text}"`, () => hasLine(page, text));
}

/** Returns whether a line that contains `text` is on the screen. */
function hasLine(page, text) {
  return page.evaluate(
    (wanted) =>
      [...document.querySelectorAll(".editor-instance .view-line")].some((line) =>
        line.textContent.replaceAll("\u00a0", " ").includes(wanted),
      ),
    text,
  );
}

/** Returns the rectangle of `token` in the first line that contains `lineText`, in pixels of the page. */
export async function boxOf(page, lineText, token) {
  const box = await page.evaluate(
    ([lineText, token]) => {
      for (const line of document.querySelectorAll(".editor-instance .view-line")) {
        const text = line.textContent.replaceAll("\u00a0", " ");
        const start = text.includes(lineText) ? text.indexOf(token, text.indexOf(lineText)) : -1;
        if (start < 0) continue;
        const range = document.createRange();
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let seen = 0, node = walker.nextNode(); node; seen += node.length, node = walker.nextNode()) {
          if (seen <= start && start < seen + node.length) range.setStart(node, start - seen);
          const end = start + token.length;
          if (seen < end && end <= seen + node.length) range.setEnd(node, end - seen);
        }
        const { x, y, width, height } = range.getBoundingClientRect();
        return { x, y, width, height };
      }
      return null;
    },
    [lineText, token],
  );
  if (box === null) throw new Error(`No line on the screen has "${lineText}" with "${token}".`);
  return box;
}

/** Waits for a squiggle under `token` with the same width (2 pixels tolerance). */
export async function waitForSquiggle(page, lineText, token) {
  await waitUntil(page, `a squiggle exactly under "${token}"`, async () => (await squigglesUnder(page, lineText, token)).length > 0);
}

/** Waits until nothing is underlined at `token`. */
export async function waitForNoSquiggle(page, lineText, token) {
  await waitUntil(page, `no squiggle under "${token}"`, async () => (await squigglesUnder(page, lineText, token)).length === 0);
}

/** Returns the squiggles under `token` with the same width. */
export async function squigglesUnder(page, lineText, token) {
  const box = await boxOf(page, lineText, token);
  const drawn = await page.evaluate(() =>
    [...document.querySelectorAll(".editor-instance [class*='squiggly-']")].map((mark) => {
      const { x, y, width, height } = mark.getBoundingClientRect();
      return { x, y, width, height };
    }),
  );
  const isClose = (left, right) => Math.abs(left - right) <= 2;
  return drawn.filter((mark) => {
    const sameLine = mark.y < box.y + box.height && mark.y + mark.height > box.y;
    return sameLine && isClose(mark.x, box.x) && isClose(mark.width, box.width);
  });
}

/** Hovers over `token` until a popup matches `expected`; returns its text. `look` is called while it is open. */
export async function hover(page, lineText, token, expected, look = async () => {}) {
  const popup = page.locator(".monaco-hover:visible").filter({ hasText: expected }).first();
  const rest = async () => {
    const box = await boxOf(page, lineText, token); // anew: lenses that arrive late move the lines
    await page.mouse.move(5, 5);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  };
  await repeatUntil(page, `a hover with "${expected}"`, rest, () => popup.isVisible());
  const text = await popup.innerText();
  await look();
  await page.keyboard.press("Escape");
  return text;
}

/** Hovers over the element `mark` until `shown` is on the screen, because redrawing the line closes a popup. */
export async function hoverUntilShown(page, mark, shown) {
  const rest = async () => {
    await page.mouse.move(5, 5);
    await mark.hover();
  };
  await repeatUntil(page, "a popup", rest, () => shown.isVisible());
}

/** Executes a command of the palette; opens the palette again until the extension has registered the command. */
export async function command(page, title) {
  const input = page.locator(".quick-input-widget input:not([type=checkbox])");
  const offered = page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first();
  const offer = async () => {
    await openList(page, "F1", input);
    await ask(input, `>${title}`);
  };
  await repeatUntil(page, `the command ${title}`, offer, () => offered.isVisible());
  await page.keyboard.press("Enter");
}

/** Reloads the window with the command, which keeps open files; resolves when the new window is up. */
export async function reloadWindow(page) {
  const isOld = () => answered(page.evaluate(() => window.isBeforeTheReload === true).catch(() => true), true); // on its way
  await page.evaluate(() => {
    window.isBeforeTheReload = true;
  });
  const reload = async () => {
    await page.waitForLoadState("domcontentloaded");
    if (await isOld()) await command(page, "Developer: Reload Window");
  };
  await repeatUntil(page, "the window to reload", reload, async () => !(await isOld()));
  await page.locator(".monaco-workbench .part.statusbar").waitFor();
}

/** Returns the titles of the commands that the palette offers for `text`. */
export async function commandsOffered(page, text) {
  const input = page.locator(".quick-input-widget input:not([type=checkbox])");
  const rows = page.locator(".quick-input-list .monaco-list-row");
  await openList(page, "F1", input);
  await ask(input, `>${text}`);
  await rows.first().waitFor();
  const titles = await rows.evaluateAll((found) => found.map((row) => row.getAttribute("aria-label") ?? row.textContent));
  await page.keyboard.press("Escape");
  return titles.map((title) => title.split(",")[0].trim());
}

/** Puts the cursor on `token`, opens the quick fixes and applies the one with this title; `look` is called when it is selected. */
export async function applyQuickFix(page, lineText, token, title, look = async () => {}) {
  const row = page.locator(".action-widget .monaco-list-row.action", { hasText: title }).first();
  const ask = async () => {
    await page.keyboard.press("Escape");
    const box = await boxOf(page, lineText, token); // anew: lenses that arrive late move the lines
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.move(5, 5); // a hover popup would take the keys
    await page.keyboard.press("Control+.");
  };
  await repeatUntil(page, `a quick fix "${title}"`, ask, () => row.isVisible());
  for (let presses = 0; !(await row.evaluate((element) => element.classList.contains("focused"))); presses++) {
    if (presses === 20) throw new Error("The quick fix cannot be reached with the arrow keys.");
    await page.keyboard.press("ArrowDown");
  }
  await look();
  await page.keyboard.press("Enter"); // a click is swallowed by an overlay of the menu
  await row.waitFor({ state: "detached" });
}

/** Clicks the first lens with this title until `happened`, because a click is lost if the lens is redrawn. */
export async function clickLens(page, title, what, happened) {
  const lens = page.locator(".codelens-decoration a", { hasText: title }).first();
  await lens.waitFor();
  await repeatUntil(page, what, () => lens.click({ timeout: 10_000 }), happened);
}

/** Clicks the first lens with this title until it has started a run of the suite in `folder`, and waits for the end of that run. */
export async function runByLens(page, title, folder) {
  const lens = page.locator(".codelens-decoration a", { hasText: title }).first();
  await lens.waitFor();
  await runOnce(page, folder, () => lens.click({ timeout: 10_000 }));
}

/**
 * Repeats `action` until it has started a run of the suite in `folder`, and waits for the end of that run: an action that is repeated
 * until there is a result would start a second run if the first one ends at that moment.
 */
export async function runOnce(page, folder, action) {
  const results = path.join(folder, ".waza", "results");
  const files = () => (fs.existsSync(results) ? fs.readdirSync(results) : []);
  const before = files();
  const added = () => files().filter((name) => !before.includes(name));
  await repeatUntil(page, "a run", action, () => Promise.resolve(added().length > 0));
  await waitUntil(page, "its result", () => Promise.resolve(added().some((name) => name.endsWith(".json"))));
}

/** Creates the suite of a skill with its lens, and confirms the list of new files, until `happened`. */
export async function createSuite(page, skill, happened) {
  const create = page.locator(".monaco-dialog-box .monaco-button", { hasText: /^Create \d Files$/u });
  const isOffered = async () => (await create.isVisible()) || happened();
  await clickLens(page, `New suite for skill ${skill}`, "the new files", isOffered);
  const take = async () => {
    if (await create.isVisible()) await create.click();
  };
  await repeatUntil(page, "the new suite", take, happened);
}

/** Records the text of every notification from now on, also of those that vanish quickly; see `notificationsSeen`. */
export async function recordNotifications(page) {
  await page.evaluate(() => {
    window.notificationsSeen = [];
    const record = () => {
      for (const toast of document.querySelectorAll(".notification-toast")) {
        const text = toast.innerText.replace(/\s+/g, " ").trim();
        if (text && window.notificationsSeen.at(-1) !== text) window.notificationsSeen.push(text);
      }
    };
    new MutationObserver(record).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
}

export function notificationsSeen(page) {
  return page.evaluate(() => window.notificationsSeen ?? []);
}

/** Returns the inlay hints of the line that contains `lineText`. */
export async function hintsOn(page, lineText) {
  return page.evaluate((wanted) => {
    const lines = [...document.querySelectorAll(".editor-instance .view-line")];
    const line = lines.find((candidate) => candidate.textContent.replaceAll("\u00a0", " ").includes(wanted));
    const marks = line ? line.querySelectorAll("span[class*='dyn-rule']") : [];
    return [...marks].map((mark) => mark.textContent.replaceAll("\u00a0", " ").trim()).filter(Boolean);
  }, lineText);
}

/** Waits until `condition` resolves to true; `what` names it in the error. */
export async function waitUntil(page, what, condition, milliseconds = PATIENCE) {
  const deadline = Date.now() + milliseconds;
  while (!(await answered(condition(), false))) {
    if (Date.now() > deadline) throw new Error(`Waited ${milliseconds / 1000} s in vain for ${what}.`);
    await answered(page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))), undefined);
  }
}

/** Returns the answer of the page, or `otherwise` after 10 seconds: a page that is being unloaded may never answer. */
function answered(question, otherwise) {
  return Promise.race([question, sleep(10_000, otherwise, { ref: false })]);
}

/**
 * Repeats `action`, with 5 seconds for its effect, until `happened` resolves to true: on a busy machine a click is lost if its target
 * is redrawn. Gives up after 80 seconds; locators in an action wait for 10 seconds.
 */
export async function repeatUntil(page, what, action, happened) {
  const deadline = Date.now() + 80_000;
  for (;;) {
    try {
      page.setDefaultTimeout(10_000);
      await action();
      return await waitUntil(page, what, happened, 5_000);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      if (await answered(happened(), false)) return;
    } finally {
      page.setDefaultTimeout(PATIENCE);
    }
  }
}
