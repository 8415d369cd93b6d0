// Screenshots from which `animation.py` creates an animation.

import fs from "node:fs";
import path from "node:path";

/** Draws the mouse pointer, which screenshots lack; it is hidden in the upper left corner. */
export async function showPointer(page) {
  await page.evaluate(() => {
    const pointer = document.createElement("div");
    pointer.innerHTML =
      '<svg width="20" height="24" viewBox="0 0 20 24"><path d="M2 1v18l4.6-4.2 3.1 7 3.2-1.4-3.1-6.9H16z" fill="#fff" stroke="#000" stroke-width="1.4"/></svg>';
    pointer.style.cssText = "position:fixed;left:-50px;top:0;z-index:2147483647;pointer-events:none;line-height:0";
    document.body.append(pointer);
    const follow = ({ clientX, clientY }) => {
      pointer.hidden = clientX < 10 && clientY < 10;
      pointer.style.left = `${clientX - 2}px`;
      pointer.style.top = `${clientY - 1}px`;
    };
    window.addEventListener("mousemove", follow, { capture: true, passive: true });
  });
}

export class Frames {
  /** @param folder the folder of the screenshots, with `frames.json`: `[{file, milliseconds}]` */
  constructor(page, folder) {
    this.page = page;
    this.folder = folder;
    this.taken = [];
    fs.mkdirSync(folder, { recursive: true });
  }

  /** Takes a screenshot that the animation shows for this time. */
  async take(milliseconds) {
    const file = `${String(this.taken.length).padStart(3, "0")}.png`;
    await this.page.screenshot({ path: path.join(this.folder, file), animations: "disabled", caret: "initial" });
    this.taken.push({ file, milliseconds });
    fs.writeFileSync(path.join(this.folder, "frames.json"), JSON.stringify(this.taken));
  }
}
