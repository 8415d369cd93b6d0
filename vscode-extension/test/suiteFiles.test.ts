import assert from "node:assert/strict";
import { test } from "node:test";
import { looksLikeSuiteFile } from "../src/suiteFiles";

void test("an eval.yaml with tasks is a suite", () => {
    assert.ok(looksLikeSuiteFile("/w/skills/a/eval.yaml", "name: a\ntasks:\n  - tasks/*.yaml\n"));
});

void test("an empty eval.yaml may become one", () => {
    assert.ok(looksLikeSuiteFile("/w/eval.yaml", "\n"));
    assert.ok(!looksLikeSuiteFile("/w/other.yaml", ""));
});

void test("an eval.yaml of another tool is not", () => {
    assert.ok(!looksLikeSuiteFile("/w/eval.yaml", "model: gpt\ndataset: data.jsonl\n"));
});

void test("a task file is known by its inputs", () => {
    assert.ok(looksLikeSuiteFile("/w/tasks/first.yaml", "id: first\ninputs:\n  prompt: hello\n"));
});

void test("a workflow with inputs outside tasks is not a task", () => {
    assert.ok(!looksLikeSuiteFile("/w/action.yml", "name: a\ninputs:\n  token: {}\n"));
});

void test("the project configuration is known by its name", () => {
    assert.ok(looksLikeSuiteFile("/w/.waza.yaml", ""));
});

void test("a suite with a syntax error is recognized", () => {
    assert.ok(looksLikeSuiteFile("/w/eval.yaml", "skill: a\ngraders:\n  - type: te\n    conf"));
});

void test("a byte order mark and quoted keys do not hide a suite", () => {
    assert.ok(looksLikeSuiteFile("/w/eval.yml", '\uFEFF"graders": []\r\n'));
});

void test("indented keys are ignored", () => {
    assert.ok(!looksLikeSuiteFile("/w/eval.yaml", "job:\n  tasks: []\n"));
});

void test("evals of a skill are known by their name and a key", () => {
    assert.ok(looksLikeSuiteFile("/w/skills/a/evals/evals.json", '{"skill_name": "a", "evals": ['));
    assert.ok(looksLikeSuiteFile("/w/skills/a/evals/more.json", '{ "evals" : [] }'));
    assert.ok(looksLikeSuiteFile("/w/trigger-cases.json", '[{"query": "a", "should_trigger": true}]'));
});

void test("other JSON is not", () => {
    assert.ok(!looksLikeSuiteFile("/w/package.json", '{"scripts": {"evals": "run"}, "evals": []}'));
    assert.ok(!looksLikeSuiteFile("/w/retrieval.json", '{"query": "evals"}'));
    assert.ok(!looksLikeSuiteFile("/w/evals/tsconfig.json", '{"compilerOptions": {}}'));
});

void test("prompts, results and adapters of agent-eval-harness start the server", () => {
    assert.ok(looksLikeSuiteFile("/w/prompts.jsonl", ""));
    assert.ok(looksLikeSuiteFile("/w/coding-prompts.ndjson", '{"id": "a", "input": "x"}'));
    assert.ok(looksLikeSuiteFile("/w/cases.jsonl", '{"id": "a", "input": "x", "hint": "y"}'));
    assert.ok(looksLikeSuiteFile("/w/results.jsonl", '{"id": "a", "input": "x", "trajectory": [], "timing": {}}'));
    assert.ok(looksLikeSuiteFile("/w/adapters/claude.json", '{"version": 1, "sessionMode": "stream"}'));
});

void test("JSON Lines and JSON of other tools do not", () => {
    assert.ok(!looksLikeSuiteFile("/w/train.jsonl", '{"messages": [{"role": "user", "content": "x"}]}'));
    assert.ok(!looksLikeSuiteFile("/w/app.log.jsonl", '{"level": "info", "msg": "trials"}'));
    assert.ok(!looksLikeSuiteFile("/w/adapters/db.json", '{"version": 1, "command": "x"}'));
    assert.ok(!looksLikeSuiteFile("/w/claude.json", '{"sessionMode": "dark"}'));
});
