import assert from "node:assert/strict";
import { test } from "node:test";
import { setSuiteTitles, suiteOf, taskId, taskIdProblem, taskOf, titleOf } from "../src/itemIds";

const suite = "/suites/deploy/eval.yaml";

void test("an id has the eval file and the names", () => {
    assert.equal(suiteOf(`${suite}::one::short`), suite);
    assert.equal(titleOf(suite), "deploy");
    assert.equal(titleOf(`${suite}::::short`), "deploy › short");
    assert.equal(titleOf(`${suite}::a%3A%3Ab::100%25`), "deploy › a::b › 100%");
});

void test("the id of a new task is a word in any script that is not taken", () => {
    const taken = new Set(["greets"]);
    for (const text of ["explains-loops", "überprüft", "日本", "v1.2_b"]) {
        assert.equal(taskIdProblem(text, taken), undefined);
    }
    for (const text of ["", "a b", "../x", "a/b", "a:b"]) {
        assert.match(taskIdProblem(text, taken) ?? "", /letters, digits/);
    }
    assert.equal(taskIdProblem("é".repeat(100), taken), undefined);
    for (const text of ["a".repeat(201), "é".repeat(101)]) {
        assert.equal(taskIdProblem(text, taken), "Write a shorter id, of at most 200 bytes: its file is named after it.");
    }
    assert.equal(taskIdProblem("greets", taken), "The suite already has a task greets.");
});

void test("the name of a task is decoded from its id", () => {
    assert.equal(taskOf(taskId("/s/eval.yaml", "a:b%")), "a:b%");
    assert.equal(taskOf("/s/eval.yaml::one::grader"), "one");
    assert.equal(taskOf("/s/eval.yaml"), undefined);
    assert.equal(taskOf("/s/eval.yaml::::grader"), undefined);
    assert.equal(taskOf("/s/eval.yaml#triggers:one"), undefined);
});

void test("a suite that was read has its name as title", () => {
    setSuiteTitles(new Map([[suite, "Deploys things"]]));
    assert.equal(titleOf(`${suite}::one`), "Deploys things › one");
    setSuiteTitles(new Map());
    assert.equal(titleOf(`${suite}::one`), "deploy › one");
});
