// Pictures of what is on the screen, one after the other, of which `animation.py` makes one that moves.

import fs from "node:fs";
import path from "node:path";

/** Draws the pointer of the mouse, which no screenshot has; in the upper left corner it is out of the way. */
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
  /** @param folder where the pictures go, with `frames.json`: `[{file, milliseconds}]` */
  constructor(page, folder) {
    this.page = page;
    this.folder = folder;
    this.taken = [];
    fs.mkdirSync(folder, { recursive: true });
  }

  /** Keeps what is on the screen now, to be seen for so long. */
  async take(milliseconds) {
    const file = `${String(this.taken.length).padStart(3, "0")}.png`;
    await this.page.screenshot({ path: path.join(this.folder, file), animations: "disabled", caret: "initial" });
    this.taken.push({ file, milliseconds });
    fs.writeFileSync(path.join(this.folder, "frames.json"), JSON.stringify(this.taken));
  }
}
