import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { PrivateEnvironment } from "../src/privateEnvironment";
import { proxyOfEditor } from "../src/programs";
import { userSettings } from "./fake/vscode";

const posixOnly = { skip: process.platform === "win32" ? "shell scripts stand for Python and uv here" : false };
const never = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
const silent = { info: () => undefined, warn: () => undefined };
const machine = { platform: process.platform, isRoot: true, has: () => false };

/** A Python whose `-m venv FOLDER` copies itself there, and whose `-m pip` runs the script `pip`. */
const PYTHON = (pip: string) =>
    `#!/bin/sh\nif [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; else ${pip}; fi\n`;

class Machine {
    readonly root: string;
    readonly storage: string;

    constructor(context: TestContext) {
        this.root = fs.mkdtempSync(path.join(os.tmpdir(), "waza-"));
        this.storage = path.join(this.root, "storage");
        context.after(() => {
            fs.rmSync(this.root, { recursive: true });
        });
        this.ship("one");
    }

    /** Puts a wheel with this text into the extension. */
    ship(text: string): void {
        this.write(path.join("bundled", "server-0.1.0-py3-none-any.whl"), text);
    }

    python(pip: string): { readonly command: string; readonly args: readonly string[]; readonly origin: string } {
        return { command: this.write("python", PYTHON(pip)), args: [], origin: "test" };
    }

    environment(uv?: string): PrivateEnvironment {
        return new PrivateEnvironment(this.storage, path.join(this.root, "bundled"), machine, silent, () => uv);
    }

    write(name: string, text: string): string {
        const file = path.join(this.root, name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, text, { mode: 0o755 });
        return file;
    }

    get folders(): string[] {
        return fs.existsSync(this.storage) ? fs.readdirSync(this.storage) : [];
    }
}

const ignore = () => undefined;
const commandOf = (environment: PrivateEnvironment) => environment.interpreter?.command;

void test("an environment is used once it is complete", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    assert.equal(commandOf(environment), undefined);
    const created = await environment.create(here.python("true"), never, ignore);
    assert.equal(commandOf(environment), created.command);
    assert.ok(!environment.isOutdated);
});

void test("a failed environment is removed", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    await assert.rejects(environment.create(here.python("exit 1"), never, ignore), /exit code 1/);
    assert.equal(commandOf(environment), undefined);
    assert.deepEqual(here.folders, []);
});

void test("an aborted environment is not used, and is removed by the next one", posixOnly, async (context) => {
    const here = new Machine(context);
    const cut = path.dirname(here.write(path.join("storage", "environment-cut", "bin", "python"), "#!/bin/sh\n"));
    const environment = here.environment();
    assert.equal(commandOf(environment), undefined);
    const longAgo = new Date(Date.now() - 7_200_000);
    fs.utimesSync(path.dirname(cut), longAgo, longAgo);
    await environment.create(here.python("true"), never, ignore);
    assert.equal(here.folders.length, 1);
});

void test("an update that cannot be installed leaves the older server", posixOnly, async (context) => {
    const here = new Machine(context);
    const older = await here.environment().create(here.python("true"), never, ignore);
    here.ship("another");
    const environment = here.environment();
    assert.ok(environment.isOutdated);
    await assert.rejects(environment.create(here.python("echo 'Name or service not known'; exit 1"), never, ignore), /not reached/);
    assert.equal(commandOf(environment), older.command);
    const newer = await environment.create(here.python("true"), never, ignore);
    assert.notEqual(newer.command, older.command);
    assert.ok(!environment.isOutdated);
    assert.equal(here.folders.length, 1);
});

void test("an environment without its Python is outdated", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    const { command } = await environment.create(here.python("true"), never, ignore);
    fs.rmSync(command);
    assert.equal(commandOf(environment), undefined);
    assert.ok(environment.isOutdated);
});

void test("pip is tried when uv does not reach the index", posixOnly, async (context) => {
    const here = new Machine(context);
    const uv = here.write("uv", "#!/bin/sh\necho 'dns error' >&2\nexit 2\n");
    const steps: string[] = [];
    await here.environment(uv).create(here.python("true"), never, (step) => {
        steps.push(step);
    });
    assert.ok(steps.some((step) => step.includes("half a minute")));
});

void test("two calls at once create one environment", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    const python = here.python("true");
    const [one, other] = await Promise.all([environment.create(python, never, ignore), environment.create(python, never, ignore)]);
    assert.equal(one.command, other.command);
    assert.equal(here.folders.length, 1);
});

void test("packages of agents are added to the environment, and kept by an update", posixOnly, async (context) => {
    const here = new Machine(context);
    const logFile = path.join(here.root, "told");
    const python = here.python(`echo "$*" >> '${logFile}'`);
    const environment = here.environment();
    await assert.rejects(environment.addAgents(never, ignore), /no private environment/);
    await environment.create(python, never, ignore);
    await environment.addAgents(never, ignore);
    here.ship("another");
    await here.environment().create(python, never, ignore);
    const files = fs.readFileSync(logFile, "utf8").trim().split("\n").map((line) => path.basename(line));
    const wheel = "server-0.1.0-py3-none-any.whl";
    assert.deepEqual(files, ["installer.txt", "server.txt", wheel, "agents.txt", "installer.txt", "agents.txt", wheel]);
});

void test("only the wheel and hash-pinned packages are installed", posixOnly, async (context) => {
    const here = new Machine(context);
    const logFile = path.join(here.root, "told");
    const log = `echo "$*" >> '${logFile}'`;
    const python = here.python(log);
    const uv = here.write("uv", `#!/bin/sh\n${log}\n[ "$1" != venv ] || { mkdir -p "$4/bin" && cp '${python.command}' "$4/bin/python"; }\n`);
    for (const [tool, installs] of [[undefined, 4], [uv, 3]] as const) {
        fs.rmSync(logFile, { force: true });
        fs.rmSync(here.storage, { force: true, recursive: true });
        const environment = here.environment(tool);
        await environment.create(python, never, ignore);
        await environment.addAgents(never, ignore);
        const lines = fs.readFileSync(logFile, "utf8").split("\n").filter((line) => line.includes("pip install"));
        assert.equal(lines.length, installs);
        for (const line of lines) {
            const isPinned = / --require-hashes --only-binary :all: -r \S+\.txt$/u.test(line);
            assert.ok(isPinned || / --no-deps --no-index \S+\.whl$/u.test(line), line);
        }
    }
});

void test("a failure to add agents keeps the environment and reports why", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    const created = await environment.create(here.python('case "$*" in *agents*) echo "Name or service not known"; exit 1;; esac'), never, ignore);
    await assert.rejects(environment.addAgents(never, ignore), /index was not reached/);
    assert.equal(commandOf(environment), created.command);
});

void test("the tools get the proxy of VS Code", posixOnly, async (context) => {
    const here = new Machine(context);
    const logFile = path.join(here.root, "asked");
    const before = Object.entries(process.env).filter(([name]) => /_proxy$/i.test(name));
    for (const [name] of before) {
        Reflect.deleteProperty(process.env, name);
    }
    userSettings["http.proxy"] = "http://proxy.example:3128";
    userSettings["http.noProxy"] = ["pypi.internal"];
    context.after(() => {
        Object.assign(process.env, Object.fromEntries(before));
        Reflect.deleteProperty(userSettings, "http.proxy");
        Reflect.deleteProperty(userSettings, "http.noProxy");
    });
    await here.environment().create(here.python(`echo "$HTTPS_PROXY $NO_PROXY" > "${logFile}"`), never, ignore);
    assert.equal(fs.readFileSync(logFile, "utf8"), "http://proxy.example:3128 pypi.internal\n");
    assert.deepEqual(proxyOfEditor({ https_proxy: "http://other:1" }), {});
    userSettings["http.proxySupport"] = "off";
    assert.deepEqual(proxyOfEditor({}), {});
    Reflect.deleteProperty(userSettings, "http.proxySupport");
});
