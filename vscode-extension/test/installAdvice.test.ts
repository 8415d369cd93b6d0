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
    const timeout = "WARNING: Retrying (Retry(total=0)) after connection broken by 'ConnectTimeoutError(...)'\nERROR: No matching distribution found for pygls";
    assert.match(afterFailure(timeout, "linux", "?"), /index was not reached/);
    assert.match(afterFailure("socket.gaierror: [Errno 8] nodename nor servname provided", "darwin", "?"), /index was not reached/);
});

void test("a network that looks into connections is told as that", () => {
    const pip = "connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))'";
    assert.match(afterFailure(pip, "linux", "?"), /certificate of the package index.*PIP_CERT/);
});

void test("an index without a package is told with its name", () => {
    const pip = "ERROR: Could not find a version that satisfies the requirement pygls==2.1.1 (from versions: none)\nERROR: No matching distribution found for pygls==2.1.1";
    assert.match(afterFailure(pip, "linux", "?"), /has no `pygls` for this Python; set `PIP_INDEX_URL`/);
    const uv = "  × No solution found when resolving dependencies:\n  ╰─▶ Because pygls was not found in the package registry and you require pygls";
    assert.match(afterFailure(uv, "linux", "?"), /has no `pygls` for this Python/);
});

void test("what nobody knows keeps its own reason", () => {
    assert.equal(afterFailure("Segmentation fault", "linux", "pip failed with exit code 1; see the log."), "pip failed with exit code 1; see the log.");
});
