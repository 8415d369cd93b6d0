import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFailure, withoutPython } from "../src/installAdvice";

void test("without Python the message has the command of the system", () => {
    assert.match(withoutPython("win32", []), /^No Python was found; .*winget install/);
    assert.match(withoutPython("darwin", []), /brew install python/);
    assert.match(withoutPython("linux", ["/usr/bin/python3"]), /asked: \/usr\/bin\/python3.*sudo apt install python3 python3-venv/);
});

void test("a Python without venv is told with the package to install", () => {
    const output = "The virtual environment was not created because ensurepip is not available.\n    apt install python3.12-venv\n";
    assert.match(afterFailure(output, "linux", "?"), /`sudo apt install python3\.12-venv`/);
    assert.match(afterFailure("No module named venv", "darwin", "?"), /has no venv/);
});

void test("being offline is told as that", () => {
    const pip = "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\nERROR: No matching distribution found for pygls";
    assert.match(afterFailure(pip, "linux", "?"), /index was not reached/);
    assert.match(afterFailure("error: Failed to fetch: dns error", "linux", "?"), /index was not reached/);
});

void test("what nobody knows keeps its own reason", () => {
    assert.equal(afterFailure("Segmentation fault", "linux", "pip failed with exit code 1; see the log."), "pip failed with exit code 1; see the log.");
});
