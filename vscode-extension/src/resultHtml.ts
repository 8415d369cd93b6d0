/** The HTML around a rendered result: its buttons, and colours for what its marks say. Nothing in it is a script. */

import { taskId } from "./runnables";

/** A folder that a trial has left; see docs/protocol.md. */
export interface TrialWorkspace {
    readonly task: string;
    readonly trial: number;
    readonly path: string;
}

/** A task of a run; see docs/protocol.md. */
export interface AnsweredTask {
    readonly id: string;
    readonly name: string;
}

/** The parts of a page. */
export interface ResultPageParts {
    /** The id of the suite or the task. */
    readonly id: string;
    /** Said above it. */
    readonly notices: readonly string[];
    /** The page as HTML, rendered by VS Code's own Markdown. */
    readonly rendered: string;
    readonly workspaces: readonly TrialWorkspace[];
    /** The tasks whose answers can become tasks of their own. */
    readonly answered: readonly AnsweredTask[];
    /** The tasks of the page, in its order. */
    readonly tasks: readonly AnsweredTask[];
    /** The file of the run that is shown, "" when there is none. */
    readonly record: string;
    /** True if it waits for a person's verdict. */
    readonly waits: boolean;
    /** True if there is an earlier run to compare with. */
    readonly comparable: boolean;
    readonly style: string;
    /** Where styles may come from, for the page's policy. */
    readonly styleSource: string;
}

/** The commands that the page may call. */
export const PAGE_COMMANDS = ["waza.reviewAnswers", "waza.compareResults", "waza.saveRecord", "waza.openWorkspace", "waza.openJudged", "waza.openFile", "waza.run", "waza.regrade"];
/** The marks of a grader in an answer: required text, forbidden text, the nearest match. */
const MATCH_CLASSES: Readonly<Record<string, string>> = { "✓": "passed", "✗": "failed", "≈": "nearest" };
/** An answer whose fence says which of its lines, counted from 1, are marks: what only looks like one is the agent's. */
const MARKED_ANSWER = /(<pre\b[^>]*><code\b[^>]*\blanguage-marked)-([\d-]+)("[^>]*>)([^]*?)(<\/code><\/pre>)/gu;
const VERDICT_CLASSES: Readonly<Record<string, string>> = { "✓": "passed", "✗": "failed", "!": "error" };
/** States that the page can be limited to. */
const FILTERS = [["all", "All"], ["failed", "Failed"], ["error", "In Error"], ["passed", "Passed"]] as const;
const HEADING = /<h2\b[^>]*>(?:([\u2713\u2717!\u25f7\u2013]) )?([^]*?)<\/h2>/u;
/** A grader, up to the next one or the next heading. */
const GRADER = /<p\b[^>]*>(<strong\b[^>]*>([\u2713\u2717!\u25f7]) <code\b[^>]*>([^]*?)<\/code><\/strong>)([^]*?)<\/p>([^]*?)(?=<p\b[^>]*><strong\b[^>]*>[\u2713\u2717!\u25f7] <code|<h[234]\b|$)/gu;

export function resultHtml({ id, notices, rendered, workspaces, answered, tasks, record, waits, comparable, style, styleSource }: ResultPageParts): string {
    const suite = id.split("::", 1)[0] ?? "";
    let body = taskSections(rendered, suite, tasks).replaceAll(/(<(?:li|h2|strong)\b[^>]*>)([\u2713\u2717!])(?=[\s<])/gu, (_, tag: string, mark: string) => {
        return `${tag}<span class="${VERDICT_CLASSES[mark] ?? ""}">${mark}</span>`;
    });
    body = body.replaceAll(MARKED_ANSWER, (_, before: string, numbers: string, rest: string, text: string, after: string) => {
        return `${before}${rest}${highlightMatches(text, new Set(numbers.split("-").map(Number)))}${after}`;
    });
    const buttons = record === "" ? [] : [button("Run Again", "waza.run", { id }), button("Re-grade", "waza.regrade", { id })];
    if (waits) {
        buttons.push(button("Review…", "waza.reviewAnswers", id));
    }
    if (comparable) {
        buttons.push(button("Compare With an Earlier Run…", "waza.compareResults", id));
    }
    if (answered.length > 0) {
        buttons.push(button("Save Record as Task…", "waza.saveRecord", { id, record }));
    }
    if (record !== "") {
        buttons.push(button("Open Record", "waza.openFile", { file: record }));
    }
    for (const { task, trial, path } of workspaces) {
        const written = `<code>${escaped(path)}</code>`;
        const open = button("Open Workspace of This Trial", "waza.openWorkspace", trialOf(suite, task, trial));
        body = body.replace(written, () => `${written} ${open}`);
    }
    if (workspaces.length > 1) {
        buttons.push(button("Open Workspace of a Trial…", "waza.openWorkspace", id));
    } else if (workspaces[0] !== undefined) {
        const [{ task, trial }] = [workspaces[0]];
        buttons.push(button("Open Workspace of This Trial", "waza.openWorkspace", trialOf(suite, task, trial)));
    }
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${styleSource};">
<link rel="stylesheet" href="${escaped(style)}">
</head>
<body>
<nav class="actions">${buttons.join("")}</nav>
${notices.map((notice) => `<p class="notice">${escaped(notice)}</p>`).join("")}
${body}
</body>
</html>`;
}

/** A page with its tasks as sections that can be filtered, after a table of contents. */
function taskSections(rendered: string, suite: string, tasks: readonly AnsweredTask[]): string {
    const [head = "", ...parts] = rendered.split(/(?=<h2\b)/u);
    const remaining = [...tasks];
    const states = new Set<string>();
    const links: string[] = [];
    const sections = parts.map((part, index) => {
        const [, mark = "", title = ""] = HEADING.exec(part) ?? [];
        const state = VERDICT_CLASSES[mark] ?? "other";
        states.add(state);
        links.push(`<li class="of ${state}"><a href="#part-${String(index)}"><span class="${state}">${mark}</span> ${title}</a></li>`);
        const heading = /^<code\b[^>]*>([^]*?)<\/code>/u.exec(title)?.[1];
        const at = remaining.findIndex(({ name }) => escaped(name.trim().replaceAll(/\s+/gu, " ")) === heading);
        const [task] = at < 0 ? [] : remaining.splice(at, 1);
        const body = task === undefined ? part : part.replaceAll(GRADER, graderSection(taskId(suite, task.id)));
        return `<section class="of ${state}" id="part-${String(index)}">${body}</section>`;
    });
    if (parts.length < 2) {
        return head + sections.join("");
    }
    const shown = FILTERS.filter(([state]) => states.size > 1 && (state === "all" || states.has(state)));
    const filters = shown.map(([state, title]) => {
        const checked = state === "all" ? " checked" : "";
        return `<label><input type="radio" name="state" id="show-${state}"${checked}> ${title}</label>`;
    });
    return `${head}<nav class="contents"><div>${filters.join("")}</div><ul>${links.join("")}</ul></nav>${sections.join("")}`;
}

/** A grader that leads to its line; one that passed is folded. */
function graderSection(task: string): (highlightMatches: string, ...groups: string[]) => string {
    return (_, title = "", mark = "", name = "", rest = "", details = "") => {
        const link = button("Go to Line", "waza.openJudged", { task, grader: unescaped(name) });
        return `<details${mark === "✓" ? "" : " open"}><summary>${title}${rest} ${link}</summary>${details}</details>`;
    };
}

/**
 * An answer in which what the carets below a line point at is marked itself: a line that is wrapped, or read from right to left, has no
 * place below its words. `html` is what a fence of Markdown has become, `marks` the numbers of its lines that are no words of the answer.
 */
function highlightMatches(html: string, marks: ReadonlySet<number>): string {
    const drawn: string[] = [];
    let answered: string[] = [];
    let kinds: (string | undefined)[] = [];
    let rules: string[] = [];
    const draw = () => {
        drawn.push(markRanges(answered, kinds), ...rules);
        rules = [];
    };
    for (const [number, line] of html.split("\n").entries()) {
        const [, carets, mark, words] = /^([ \t^]*\^) ([\u2713\u2717\u2248]) (.+)$/u.exec(line) ?? [];
        if (marks.has(number + 1) && carets !== undefined && mark !== undefined && words !== undefined) {
            const kind = MATCH_CLASSES[mark] ?? "";
            carets.split("").forEach((character, at) => (kinds[at] ??= character === "^" ? kind : undefined));
            rules.push(`<bdi dir="ltr"><span class="${kind}">^ ${mark}</span> ${words}</bdi>`);
        } else {
            if (number > 0) {
                draw();
            }
            // Characters as they are counted in an answer: one that HTML writes as `&lt;` is one.
            [answered, kinds] = [line.match(/&(?:\w+|#\d+);|[^]/gu) ?? [], []];
        }
    }
    draw();
    return drawn.join("\n");
}

/** A line with its marks: each contains adjacent characters of one kind. */
function markRanges(characters: readonly string[], kinds: readonly (string | undefined)[]): string {
    const open = (at: number) => (kinds[at] === undefined || kinds[at] === kinds[at - 1] ? "" : `<mark class="${kinds[at]}">`);
    const close = (at: number) => (kinds[at] === undefined || (kinds[at] === kinds[at + 1] && at + 1 < characters.length) ? "" : "</mark>");
    return characters.map((character, at) => `${open(at)}${character}${close(at)}`).join("");
}

/** The id of a trial in the tree; see docs/protocol.md. */
function trialOf(suite: string, task: string, trial: number): string {
    return `${taskId(suite, task)}#trial-${String(trial)}`;
}

function button(title: string, command: string, argument: unknown): string {
    const uri = `command:${command}?${encodeURIComponent(JSON.stringify([argument]))}`;
    return `<a class="button" role="button" href="${escaped(uri)}">${escaped(title)}</a>`;
}

function unescaped(html: string): string {
    return html.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

export function escaped(text: string): string {
    return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
