import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { settingsOfFolders, toldSettings } from "../src/toldSettings";
import { settings } from "./fake/vscode";

afterEach(() => {
    settings.window = {};
    settings.folders = {};
});

void test("the server is told what the settings of each folder say of runs", () => {
    settings.window = { "waza.run.trials": 3 };
    settings.folders = { "/ws/beta": { "waza.run.trials": 5, "waza.run.executor": "mock" } };
    const runByFolder = { "file:///ws/alpha": { trials: 3 }, "file:///ws/beta": { trials: 5, executor: "mock" } };
    assert.deepEqual(toldSettings().run, { trials: 3 });
    assert.deepEqual(toldSettings().runByFolder, runByFolder);
    assert.deepEqual(settingsOfFolders(), { runByFolder });
});
