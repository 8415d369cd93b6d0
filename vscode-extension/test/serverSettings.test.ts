import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { folderSettings, serverSettings } from "../src/serverSettings";
import { settings } from "./fake/vscode";

afterEach(() => {
    settings.window = {};
    settings.folders = {};
});

void test("the server gets the run settings of each folder", () => {
    settings.window = { "waza.run.trials": 3 };
    settings.folders = { "/ws/beta": { "waza.run.trials": 5, "waza.run.executor": "mock" } };
    const runByFolder = { "file:///ws/alpha": { trials: 3 }, "file:///ws/beta": { trials: 5, executor: "mock" } };
    assert.deepEqual(serverSettings().run, { trials: 3 });
    assert.deepEqual(serverSettings().runByFolder, runByFolder);
    assert.deepEqual(folderSettings(), { runByFolder });
});
