/**
 * Recognizes files of suites without the server.
 *
 * The server decides by name, content and neighbours which documents it validates. Here an immediate estimate is enough: whether
 * to start the server at all, and whether the YAML extension should ignore a file.
 */

import * as path from "node:path";

/** Skills. */
export const SKILL_GLOB = "**/SKILL.md";

/** Suite files with a conventional name. */
export const SUITE_FILE_GLOB = "**/{.waza.yaml,.waza.yml,eval.yaml,eval.yml,wazaEval.yaml,wazaEval.yml,trigger_tests.yaml,trigger_tests.yml}";

/** JSON files that may be evals of a skill; the server decides by their content. */
export const EVALS_GLOB = "**/{*eval*.json,*trigger*.json,evals/*.json}";

/** Files that may be prompts, results or adapters of agent-eval-harness; the server decides by their content. */
export const HARNESS_GLOB = "**/{*.jsonl,*.ndjson,*adapter*.json,*headless*.json,adapters/*.json}";

/** Prompts with a conventional name. */
export const NAMED_PROMPTS_GLOB = "**/prompts.{jsonl,ndjson}";

/** Evals with a conventional name. */
export const NAMED_EVALS_GLOB = "**/{evals,*.evals}.json";

const SKILL_NAME = "SKILL.md";
const OWN_NAMES = /^(\.waza|trigger_tests)\.ya?ml$/;
const EVAL_NAMES = /^(.+[-_.])?(eval|wazaEval)\.ya?ml$/;
const NAMES_OF_EVALS = /(?:eval|trigger)[^/\\]*\.json$|[/\\]evals[/\\][^/\\]*\.json$/;
const NAMES_OF_ROWS = /\.(?:jsonl|ndjson)$/;
const NAMES_OF_PROMPTS = /(?:^|[/\\._-])prompts(?:[._-][^/\\]*)?\.(?:jsonl|ndjson)$/;
const KEYS_OF_ROWS = /"hint"\s*:|"trajectory"\s*:\s*\[|"trials"\s*:\s*\[/;
const NAMES_OF_ADAPTERS = /(?:adapter|headless)[^/\\]*\.json$|[/\\]adapters[/\\][^/\\]*\.json$/;
const KEYS_OF_ADAPTERS = /"(?:sessionMode|outputEvents)"\s*:/;
const KEYS_OF_EVALS = /"(?:evals|should_trigger)"\s*:/;
/** The number of characters that are searched for the keys of a row. */
const BEGINNING = 10_000;
const YAML_NAMES = /\.ya?ml$/;

/** Returns whether a file with this text is probably part of an evaluation suite. */
export function looksLikeSuiteFile(file: string, text: string): boolean {
    const name = path.basename(file);
    if (OWN_NAMES.test(name)) {
        return true;
    }
    if (mayBeEvals(file)) {
        return KEYS_OF_EVALS.test(text);
    }
    if (NAMES_OF_ROWS.test(file)) {
        return NAMES_OF_PROMPTS.test(file) || KEYS_OF_ROWS.test(text.slice(0, BEGINNING));
    }
    if (NAMES_OF_ADAPTERS.test(file)) {
        return KEYS_OF_ADAPTERS.test(text);
    }
    const keys = topLevelKeys(text);
    if (EVAL_NAMES.test(name)) {
        return text.trim() === "" || keys.has("tasks") || keys.has("graders") || (keys.has("skill") && keys.has("name"));
    }
    if (!YAML_NAMES.test(name)) {
        return false;
    }
    if (keys.has("skill") && (keys.has("graders") || keys.has("tasks"))) {
        return true;
    }
    const inTasks = path.basename(path.dirname(file)) === "tasks";
    return keys.has("inputs") && (inTasks || keys.has("id") || keys.has("graders"));
}

/** Returns whether a file may be evals of a skill, by its path. */
export function mayBeEvals(file: string): boolean {
    return NAMES_OF_EVALS.test(file);
}

/** Returns whether the folder of a file with this name belongs to a suite or a skill. */
export function isSuiteFileName(name: string): boolean {
    return name === SKILL_NAME || OWN_NAMES.test(name) || EVAL_NAMES.test(name);
}

/** Returns whether a file is a `SKILL.md`. */
export function isSkillFile(file: string): boolean {
    return path.basename(file) === SKILL_NAME;
}

/** Returns the keys at column 0, also of a document with syntax errors. */
function topLevelKeys(text: string): Set<string> {
    const keys = new Set<string>();
    for (const match of text.matchAll(/^\uFEFF?["']?([A-Za-z_]\w*)["']?[ \t]*:(?=\s|$)/gm)) {
        keys.add(match[1] ?? "");
    }
    return keys;
}
