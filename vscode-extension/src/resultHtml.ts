/** Builds the HTML of a result page around the rendered Markdown: buttons, filters and coloured marks, without scripts. */

import { taskId, trialId } from "./itemIds";

/** The workspace folder of a trial; see docs/protocol.md. */
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
    /** Notices above the page. */
    readonly notices: readonly string[];
    /** The Markdown of the page, rendered as HTML by VS Code. */
    readonly rendered: string;
    readonly workspaces: readonly TrialWorkspace[];
    /** The tasks whose answers can be saved as new tasks. */
    readonly answered: readonly AnsweredTask[];
    /** The tasks on the page, in order. */
    readonly tasks: readonly AnsweredTask[];
    /** The result file of the run; "" if there is none. */
    readonly record: string;
    /** True if an answer needs a review. */
    readonly waits: boolean;
    /** True if there is an earlier run. */
    readonly comparable: boolean;
    readonly style: string;
    /** The source of styles in the content security policy. */
    readonly styleSource: string;
}

/** The commands that the page may call. */
export const PAGE_COMMANDS = ["waza.reviewAnswers", "waza.compareResults", "waza.saveRecord", "waza.openWorkspace", "waza.openJudged", "waza.openFile", "waza.run", "waza.regrade"];
/** The CSS classes of a grader's marks in an answer: required text, forbidden text, nearest match. */
const MATCH_CLASSES: Readonly<Record<string, string>> = { "✓": "passed", "✗": "failed", "≈": "nearest" };
/** A marked answer: the language of its fence lists the lines, counted from 1, that are marks. The agent may have written similar lines. */
const MARKED_ANSWER = /(<pre\b[^>]*><code\b[^>]*\blanguage-marked)-([\d-]+)("[^>]*>)([^]*?)(<\/code><\/pre>)/gu;
const VERDICT_CLASSES: Readonly<Record<string, string>> = { "✓": "passed", "✗": "failed", "!": "error" };
/** The filters of the page, by state. */
const FILTERS = [["all", "All"], ["failed", "Failed"], ["error", "In Error"], ["passed", "Passed"]] as const;
const HEADING = /<h2\b[^>]*>(?:([\u2713\u2717!\u25f7\u2013]) )?([^]*?)<\/h2>/u;
/** A grader, with all text up to the next grader or heading. */
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
        const code = `<code>${escaped(path)}</code>`;
        const open = button("Open Workspace of This Trial", "waza.openWorkspace", trialId(taskId(suite, task), trial));
        body = body.replace(code, () => `${code} ${open}`);
    }
    if (workspaces.length > 1) {
        buttons.push(button("Open Workspace of a Trial…", "waza.openWorkspace", id));
    } else if (workspaces[0] !== undefined) {
        const [{ task, trial }] = [workspaces[0]];
        buttons.push(button("Open Workspace of This Trial", "waza.openWorkspace", trialId(taskId(suite, task), trial)));
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

/** Wraps the tasks in sections that can be filtered, after a table of contents. */
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

/** Returns a replacer that wraps a grader in a collapsible section with a link to its line; a grader that passed is collapsed. */
function graderSection(task: string): (match: string, ...groups: string[]) => string {
    return (_, title = "", mark = "", name = "", rest = "", details = "") => {
        const link = button("Go to Line", "waza.openJudged", { task, grader: unescaped(name) });
        return `<details${mark === "✓" ? "" : " open"}><summary>${title}${rest} ${link}</summary>${details}</details>`;
    };
}

/**
 * Highlights the text above carets: in a wrapped line, or one that is read from right to left, carets do not point at their text.
 *
 * @param html a rendered fence
 * @param marks the numbers of its lines, counted from 1, that are marks and not part of the answer
 */
function highlightMatches(html: string, marks: ReadonlySet<number>): string {
    const lines: string[] = [];
    let answered: string[] = [];
    let kinds: (string | undefined)[] = [];
    let rules: string[] = [];
    const flush = () => {
        lines.push(markRanges(answered, kinds), ...rules);
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
                flush();
            }
            // An entity such as `&lt;` is one character of the answer.
            [answered, kinds] = [line.match(/&(?:\w+|#\d+);|[^]/gu) ?? [], []];
        }
    }
    flush();
    return lines.join("\n");
}

/** Wraps each range of adjacent characters of one kind in a `<mark>`. */
function markRanges(characters: readonly string[], kinds: readonly (string | undefined)[]): string {
    const open = (at: number) => (kinds[at] === undefined || kinds[at] === kinds[at - 1] ? "" : `<mark class="${kinds[at]}">`);
    const close = (at: number) => (kinds[at] === undefined || (kinds[at] === kinds[at + 1] && at + 1 < characters.length) ? "" : "</mark>");
    return characters.map((character, at) => `${open(at)}${character}${close(at)}`).join("");
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
