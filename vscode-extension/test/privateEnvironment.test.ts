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

/** A Python whose `-m venv FOLDER` copies itself there, and whose `-m pip` is what `pip` says. */
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

const nothing = () => undefined;
const commandOf = (environment: PrivateEnvironment) => environment.interpreter?.command;

void test("an environment counts once it is complete", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    assert.equal(commandOf(environment), undefined);
    const made = await environment.create(here.python("true"), never, nothing);
    assert.equal(commandOf(environment), made.command);
    assert.ok(!environment.isOutdated);
});

void test("half an environment is no environment, and goes", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    await assert.rejects(environment.create(here.python("exit 1"), never, nothing), /exit code 1/);
    assert.equal(commandOf(environment), undefined);
    assert.deepEqual(here.folders, []);
});

void test("one that was cut short by a kill does not count, and goes with the next", posixOnly, async (context) => {
    const here = new Machine(context);
    const cut = path.dirname(here.write(path.join("storage", "environment-cut", "bin", "python"), "#!/bin/sh\n"));
    const environment = here.environment();
    assert.equal(commandOf(environment), undefined);
    const longAgo = new Date(Date.now() - 7_200_000);
    fs.utimesSync(path.dirname(cut), longAgo, longAgo);
    await environment.create(here.python("true"), never, nothing);
    assert.equal(here.folders.length, 1);
});

void test("an update that cannot be installed leaves the older server", posixOnly, async (context) => {
    const here = new Machine(context);
    const older = await here.environment().create(here.python("true"), never, nothing);
    here.ship("another");
    const environment = here.environment();
    assert.ok(environment.isOutdated);
    await assert.rejects(environment.create(here.python("echo 'Name or service not known'; exit 1"), never, nothing), /not reached/);
    assert.equal(commandOf(environment), older.command);
    const newer = await environment.create(here.python("true"), never, nothing);
    assert.notEqual(newer.command, older.command);
    assert.ok(!environment.isOutdated);
    assert.equal(here.folders.length, 1);
});

void test("an environment whose Python was taken away is made again", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    const { command } = await environment.create(here.python("true"), never, nothing);
    fs.rmSync(command);
    assert.equal(commandOf(environment), undefined);
    assert.ok(environment.isOutdated);
});

void test("when uv does not reach the index, pip is asked, which may know another", posixOnly, async (context) => {
    const here = new Machine(context);
    const uv = here.write("uv", "#!/bin/sh\necho 'dns error' >&2\nexit 2\n");
    const steps: string[] = [];
    await here.environment(uv).create(here.python("true"), never, (step) => {
        steps.push(step);
    });
    assert.ok(steps.some((step) => step.includes("half a minute")));
});

void test("two that ask at once get one environment", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    const python = here.python("true");
    const [one, other] = await Promise.all([environment.create(python, never, nothing), environment.create(python, never, nothing)]);
    assert.equal(one.command, other.command);
    assert.equal(here.folders.length, 1);
});

void test("what agents need is added to the one that is used, and comes along when that is renewed", posixOnly, async (context) => {
    const here = new Machine(context);
    const told = path.join(here.root, "told");
    const python = here.python(`echo "$*" >> '${told}'`);
    const environment = here.environment();
    await assert.rejects(environment.addAgents(never, nothing), /no private environment/);
    await environment.create(python, never, nothing);
    await environment.addAgents(never, nothing);
    here.ship("another");
    await here.environment().create(python, never, nothing);
    const files = fs.readFileSync(told, "utf8").trim().split("\n").map((line) => path.basename(line));
    const wheel = "server-0.1.0-py3-none-any.whl";
    assert.deepEqual(files, ["installer.txt", "server.txt", wheel, "agents.txt", "installer.txt", "agents.txt", wheel]);
});

void test("nothing is installed but what is pinned by hash, and the wheel by itself", posixOnly, async (context) => {
    const here = new Machine(context);
    const told = path.join(here.root, "told");
    const log = `echo "$*" >> '${told}'`;
    const python = here.python(log);
    const uv = here.write("uv", `#!/bin/sh\n${log}\n[ "$1" != venv ] || { mkdir -p "$4/bin" && cp '${python.command}' "$4/bin/python"; }\n`);
    for (const [tool, installs] of [[undefined, 4], [uv, 3]] as const) {
        fs.rmSync(told, { force: true });
        fs.rmSync(here.storage, { force: true, recursive: true });
        const environment = here.environment(tool);
        await environment.create(python, never, nothing);
        await environment.addAgents(never, nothing);
        const lines = fs.readFileSync(told, "utf8").split("\n").filter((line) => line.includes("pip install"));
        assert.equal(lines.length, installs);
        for (const line of lines) {
            const isPinned = / --require-hashes --only-binary :all: -r \S+\.txt$/u.test(line);
            assert.ok(isPinned || / --no-deps --no-index \S+\.whl$/u.test(line), line);
        }
    }
});

void test("what cannot be added leaves the environment as it is, and says why", posixOnly, async (context) => {
    const here = new Machine(context);
    const environment = here.environment();
    const made = await environment.create(here.python('case "$*" in *agents*) echo "Name or service not known"; exit 1;; esac'), never, nothing);
    await assert.rejects(environment.addAgents(never, nothing), /index was not reached/);
    assert.equal(commandOf(environment), made.command);
});

void test("the proxy of the editor reaches what installs the environment", posixOnly, async (context) => {
    const here = new Machine(context);
    const asked = path.join(here.root, "asked");
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
    await here.environment().create(here.python(`echo "$HTTPS_PROXY $NO_PROXY" > "${asked}"`), never, nothing);
    assert.equal(fs.readFileSync(asked, "utf8"), "http://proxy.example:3128 pypi.internal\n");
    assert.deepEqual(proxyOfEditor({ https_proxy: "http://other:1" }), {});
    userSettings["http.proxySupport"] = "off";
    assert.deepEqual(proxyOfEditor({}), {});
    Reflect.deleteProperty(userSettings, "http.proxySupport");
});
