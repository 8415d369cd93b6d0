/** The buttons of a message about a run that could not finish: what a person can do about its reason. */

import { type FileLocation, JUDGE_EXECUTOR, splitLocation } from "./reasons";

/** Matches the variable of a key in a reason. */
const KEY_VARIABLE = /`([A-Z][A-Z0-9_]*(?:KEY|TOKEN))`|variable `(\w+)`, which `provider\.api_key_env` names|\bkey in `(\w+)`|refused the key [^;]*; check `(\w+)`/u;

/** A button for a message; `command` is one of this extension or of VS Code. */
export interface Remedy {
    readonly title: string;
    readonly command: string;
    readonly argument?: string | FileLocation;
}

/** Returns at most two remedies for a reason, the likeliest first. */
export function remediesFor(reason: string): Remedy[] {
    const { words, place } = splitLocation(reason);
    const found: Remedy[] = [];
    const packages = /needs packages that are not installed; `((?:pip install|pipx inject|uv (?:tool|pip) install) [^`]+)`/u.exec(words)?.[1];
    if (packages !== undefined) {
        found.push({ title: "Install", command: "waza.addAgents", argument: packages });
    }
    const login = /not logged in to GitHub; run `([^`]+ login)`/u.exec(words)?.[1];
    if (login !== undefined) {
        found.push({ title: "Log In", command: "waza.logIn", argument: login });
    }
    const key = KEY_VARIABLE.exec(words)?.slice(1).find(Boolean);
    if (key !== undefined || words.includes("wants a key")) {
        found.push({ title: "Set Key", command: "waza.setProviderKey", ...(key === undefined ? {} : { argument: key }) });
    }
    const isOfJudge = words.includes(JUDGE_EXECUTOR);
    if (isOfJudge) {
        found.push({ title: "Choose Judge", command: "workbench.action.openSettings", argument: JUDGE_EXECUTOR });
    } else if (/\bexecutor\b|\bagent\b|\bCopilot\b|\blogged in\b|wants a key/u.test(words)) {
        found.push({ title: "Choose Executor", command: "waza.chooseExecutor" });
    }
    const named = /(?:^|\s)(\/[^\s:]+\.ya?ml|[A-Za-z]:\\[^\s:]+\.ya?ml)/u.exec(words)?.[1];
    const wrong = place ?? (named === undefined ? undefined : { file: named });
    if (wrong !== undefined) {
        found.push({ title: "Open File", command: "waza.openFile", argument: wrong });
    }
    return found.slice(0, 2);
}

/** Returns the remedies if an agent or a judge needs a login, a key or a judge model; else none. */
export function loginRemedies(reason: string): Remedy[] {
    const remedies = remediesFor(reason).filter(({ command }) => command !== "waza.openFile");
    return remedies.some(({ command, argument }) => command === "waza.logIn" || command === "waza.setProviderKey" || argument === JUDGE_EXECUTOR) ? remedies : [];
}
