// What a person does and sees in the text editor of a VS Code page.

import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE } from "./workbench.mjs";

/** Opens a file of the workspace by name, or by the end of its path, and waits until its text is drawn and has the keys. */
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
  // The keys come last: until then one that is open already keeps the list before it, and the cursor is put where it was.
  const isReady = async () => !(await input.isVisible()) && (await hasKeys(page)) && (await hasLine(page, expectedText));
  await repeatUntil(page, `${name} to open`, choose, isReady);
}

/**
 * Opens a list by its key. A page inside the window that has the focus, such as a result, keeps keys to itself until its own
 * script has loaded: the workbench gets the focus first.
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

/** Puts `text` into the input of a list, and never into the file below, which has the keys again when the list closes meanwhile. */
async function ask(input, text) {
  await input.evaluate((field, value) => {
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, text);
}

/** Whether what is typed goes into a text editor. */
function hasKeys(page) {
  return page.evaluate(() => Boolean(document.activeElement?.closest(".editor-instance")));
}

/** Waits until a line that contains `text` is on the screen. */
export async function waitForLine(page, text) {
  await waitUntil(page, `the line "${text}"`, () => hasLine(page, text));
}

/** Whether a line that contains `text` is on the screen. */
function hasLine(page, text) {
  return page.evaluate(
    (wanted) =>
      [...document.querySelectorAll(".editor-instance .view-line")].some((line) =>
        line.textContent.replaceAll("\u00a0", " ").includes(wanted),
      ),
    text,
  );
}

/** The rectangle of `token` in the first line that contains `lineText`, in pixels of the page. */
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

/** Waits for a squiggle that lies under `token` and is as wide as it is (2 pixels tolerance). */
export async function waitForSquiggle(page, lineText, token) {
  await waitUntil(page, `a squiggle exactly under "${token}"`, async () => (await squigglesUnder(page, lineText, token)).length > 0);
}

/** Waits until nothing is underlined at `token`. */
export async function waitForNoSquiggle(page, lineText, token) {
  await waitUntil(page, `no squiggle under "${token}"`, async () => (await squigglesUnder(page, lineText, token)).length === 0);
}

/** The squiggles that lie under `token` and are as wide as it is. */
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

/** Rests the mouse on `token` and returns the text that pops up, once it matches `expected`; `look` is called while it is there. */
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

/** Rests the mouse on the element that `mark` finds until `shown` is on the screen: a popup is lost when the line is drawn anew. */
export async function hoverUntilShown(page, mark, shown) {
  const rest = async () => {
    await page.mouse.move(5, 5);
    await mark.hover();
  };
  await repeatUntil(page, "a popup", rest, () => shown.isVisible());
}

/** Carries out the command `title` of the palette: opened again until it offers it, for an extension may not have registered it yet. */
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

/** Reloads the window by its command, which keeps what is open; resolves when the new one is there. */
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

/** The titles of the commands that the palette offers for `text`; it is closed again. */
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

/** Puts the cursor on `token`, opens the quick fixes and applies the one that says `title`; `look` is called when it is chosen. */
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

/** Clicks the first lens that says `title` until `happened`: a click is lost when the lens is drawn anew under it. */
export async function clickLens(page, title, what, happened) {
  const lens = page.locator(".codelens-decoration a", { hasText: title }).first();
  await lens.waitFor();
  await repeatUntil(page, what, () => lens.click({ timeout: 10_000 }), happened);
}

/** Makes the suite of a skill by its lens, and takes the files that are shown first, until `happened`. */
export async function makeSuite(page, skill, happened) {
  const create = page.locator(".monaco-dialog-box .monaco-button", { hasText: /^Create \d Files$/u });
  const isOffered = async () => (await create.isVisible()) || happened();
  await clickLens(page, `New suite for skill ${skill}`, "the new files", isOffered);
  const take = async () => {
    if (await create.isVisible()) await create.click();
  };
  await repeatUntil(page, "the new suite", take, happened);
}

/** From now on keeps the text of every notification, also of those that vanish quickly; read it with `notificationsSeen`. */
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

/** Texts that the extension draws into the line that contains `lineText`: inlay hints. */
export async function hintsOn(page, lineText) {
  return page.evaluate((wanted) => {
    const lines = [...document.querySelectorAll(".editor-instance .view-line")];
    const line = lines.find((candidate) => candidate.textContent.replaceAll("\u00a0", " ").includes(wanted));
    const marks = line ? line.querySelectorAll("span[class*='dyn-rule']") : [];
    return [...marks].map((mark) => mark.textContent.replaceAll("\u00a0", " ").trim()).filter(Boolean);
  }, lineText);
}

/** Waits until `condition` resolves to true; the error says what was waited for. */
export async function waitUntil(page, what, condition, milliseconds = PATIENCE) {
  const deadline = Date.now() + milliseconds;
  while (!(await answered(condition(), false))) {
    if (Date.now() > deadline) throw new Error(`Waited ${milliseconds / 1000} s in vain for ${what}.`);
    await answered(page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))), undefined);
  }
}

/** What the page says, or `otherwise` when it has said nothing for 10 seconds: one that is being left may never answer. */
function answered(question, otherwise) {
  return Promise.race([question, sleep(10_000, otherwise, { ref: false })]);
}

/**
 * Does `action` again and again, leaving 5 seconds for its effect, until `happened` resolves to true: on a busy machine a gesture is
 * lost when what it is meant for is drawn anew. Gives up after 80 seconds; what an action waits for, it waits for 10 seconds.
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
