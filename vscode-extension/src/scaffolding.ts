/**
 * New suites, tasks and graders: the person is asked, the server makes them.
 *
 * The engine decides their content and place; `waza-engine new` creates the same drafts.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient, type WorkspaceEdit } from "vscode-languageclient/node";
import { editorOfSuite } from "./activeSuite";
import { revealAddedLines } from "./addedLines";
import { plain } from "./messages";
import { showRequestError } from "./requestErrors";
import type { AnsweredTask } from "./resultHtml";
import { runnableAt, promptOf, runnablesIn, suiteIdOf, suiteOf, taskId, taskOf, taskIdProblem } from "./runnables";
import { SKILL_GLOB } from "./suiteFiles";
import { runnableOf } from "./testing/reports";
import { isTrustedFor, DRAFTS_NEED_TRUST } from "./trust";

/** Starts the server unless it runs; undefined, after a message, when it cannot be started. */
export type Connect = () => Promise<LanguageClient | undefined>;

/** Makes a suite for one of the skills of the workspace, or the `skill` that was chosen in the Explorer, and opens it. */
export async function createSuite(connect: Connect, skill?: vscode.Uri): Promise<void> {
    if (!isTrustedFor(DRAFTS_NEED_TRUST)) {
        return;
    }
    if (skill !== undefined) {
        await ask(connect, "waza.newSuite", { skill: skill.fsPath });
        return;
    }
    const skills = await vscode.workspace.findFiles(SKILL_GLOB, "**/node_modules/**", 200);
    if (skills.length === 0) {
        const make = "New SKILL.md…";
        if ((await vscode.window.showInformationMessage("There is no SKILL.md in this workspace; a suite is drafted from one.", make)) === make) {
            await createSkill();
        }
        return;
    }
    const items = skills.map((file) => ({
        label: path.basename(path.dirname(file.fsPath)),
        description: vscode.workspace.asRelativePath(file),
        file,
    }));
    items.sort((one, other) => one.description.localeCompare(other.description)); // they are found in any order
    const options = { title: "New Suite", placeHolder: "The skill to evaluate", matchOnDescription: true };
    const chosen = await vscode.window.showQuickPick(items, options);
    if (chosen !== undefined) {
        await ask(connect, "waza.newSuite", { skill: chosen.file.fsPath }); // the server shows it
    }
}

/** Begins a skill in the workspace, and opens it where it is to be described; its lens then makes the suite. */
async function createSkill(): Promise<void> {
    const root = vscode.workspace.workspaceFolders?.[0]?.uri;
    const name = await vscode.window.showInputBox({ title: "New SKILL.md", prompt: "The name of the skill and of its folder", placeHolder: "pdf-filler", validateInput: whyNoSkill });
    if (root === undefined || name === undefined) {
        return;
    }
    const file = vscode.Uri.joinPath(root, "skills", name, "SKILL.md");
    const [head, described] = [`---\nname: ${name}\ndescription: `, "The work of the skill, and when to use it."];
    // A file that the search leaves out may exist: keep its text.
    const made = new vscode.WorkspaceEdit();
    made.createFile(file, { ignoreIfExists: true, contents: Buffer.from(`${head}${described}\n---\n\n# ${name}\n\nWhat the agent is to do, step by step.\n`) });
    await vscode.workspace.applyEdit(made);
    const editor = await vscode.window.showTextDocument(file);
    editor.selection = new vscode.Selection(editor.document.positionAt(head.length), editor.document.positionAt(head.length + described.length));
}

/** Why no skill can have that name; undefined when one can. */
function whyNoSkill(name: string): string | undefined {
    return /^[a-z0-9]+(?:-[a-z0-9]+)*$/u.test(name) && name.length <= 64 ? undefined : "Write up to 64 small letters, digits and single hyphens.";
}

/**
 * Adds a task to the suite of the active file, and opens it.
 *
 * @param shown the eval file whose result is in front, when one is
 */
export async function createTask(connect: Connect, shown?: string): Promise<void> {
    if (!isTrustedFor(DRAFTS_NEED_TRUST)) {
        return;
    }
    const { id: suiteId, suite } = (await suiteInFront(connect, shown)) ?? {};
    if (suiteId === undefined) {
        return;
    }
    const taken = await idsOf(connect, suiteIdOf(suiteId));
    const id = await vscode.window.showInputBox({
        title: "New Task",
        prompt: "The id of the task, the name of its file",
        placeHolder: "explains-loops",
        validateInput: async (text) => taskIdProblem(text, taken) ?? (await whyNoTask(connect, suite, text)),
    });
    if (id === undefined) {
        return;
    }
    const prompt = await vscode.window.showInputBox({ title: "New Task", prompt: "The prompt for the agent; press Enter to write it later" });
    if (prompt !== undefined) {
        const made = await ask(connect, "waza.newTask", { suite, id, prompt });
        await show(made?.files?.[0]);
    }
}

/**
 * Creates a task from a recorded trial of another one, and opens it.
 *
 * @param item the id of a task, or of a trial or grader of one; of a suite the person chooses the task
 * @param record the result file that has it; the newest one without it
 */
export async function saveRecordAsTask(connect: Connect, item: string, record?: string): Promise<void> {
    if (!isTrustedFor(DRAFTS_NEED_TRUST)) {
        return;
    }
    const [suite = "", task] = runnableOf(item).split("::");
    if (promptOf(item) !== undefined || task === "") {
        void vscode.window.showInformationMessage("Choose a task that was run: its recorded answer becomes a new task.");
        return;
    }
    const id = task === undefined ? await chosenAnswer(connect, suite, record) : `${suite}::${task}`;
    if (id === undefined) {
        return;
    }
    const taken = await idsOf(connect, suite);
    const name = await vscode.window.showInputBox({
        title: "Save Record as Task",
        prompt: "The id of the new task, the name of its file",
        placeHolder: "explains-loops-again",
        validateInput: async (text) => taskIdProblem(text, taken) ?? (await whyNoTask(connect, suiteOf(suite), text, "waza.saveRecordAsTask")),
    });
    if (name !== undefined) {
        const trial = /#trial-(\d+)/u.exec(item)?.[1];
        const asked = { id, name, ...(trial === undefined ? {} : { trial }), ...(record === undefined ? {} : { record }) };
        await ask(connect, "waza.saveRecordAsTask", asked); // the server has the file shown
    }
}

/** The id of a task that has an answer in a run of a suite; of several the person chooses one. */
async function chosenAnswer(connect: Connect, suite: string, record: string | undefined): Promise<string | undefined> {
    const client = await connect();
    if (client === undefined) {
        return undefined;
    }
    try {
        const asked = { id: suite, ...(record === undefined ? {} : { record }) };
        const page = await client.sendRequest<{ answered: readonly AnsweredTask[] }>("waza/resultDocument", asked);
        const rows = page.answered.map((each) => ({ label: each.name, description: each.id, each }));
        if (rows.length === 0) {
            void vscode.window.showInformationMessage("No task of this run has an answer.");
        }
        const options = { title: "Save Record as Task", placeHolder: "The task whose answer becomes a new task" };
        const chosen = rows.length < 2 ? rows[0] : await vscode.window.showQuickPick(rows, options);
        return chosen === undefined ? undefined : taskId(suite, chosen.each.id);
    } catch (error) {
        void showRequestError(error);
        return undefined;
    }
}

/** Adds a grader to the active eval or task file. */
export async function createGrader(connect: Connect): Promise<void> {
    if (!isTrustedFor(DRAFTS_NEED_TRUST)) {
        return;
    }
    const document = (await suiteInFront(connect))?.document;
    if (document === undefined) {
        return;
    }
    const offered = await ask(connect, "waza.graderTypes", {});
    if (offered === undefined) {
        return; // the reason was shown
    }
    const items = (offered.types ?? []).map(({ type, title }) => ({ label: type, detail: title }));
    const chosen = await vscode.window.showQuickPick(items, { title: "New Grader", placeHolder: "Choose the type of check", matchOnDetail: true });
    if (chosen === undefined) {
        return;
    }
    if (!(await document.save())) {
        const name = vscode.workspace.asRelativePath(document.uri);
        void vscode.window.showWarningMessage(plain(`No grader was written: ${name} could not be saved. It may be read-only.`));
        return;
    }
    const before = document.getText();
    const made = await ask(connect, "waza.newGrader", { file: document.uri.fsPath, type: chosen.label });
    if (made !== undefined) {
        await revealAddedLines(document, before, made.name ?? "");
    }
}

/** Why the suite can have no new task of that id, as the server says: no pattern picks its file up, say. */
async function whyNoTask(connect: Connect, suite: string | undefined, id: string, command?: string): Promise<string | undefined> {
    const client = await connect();
    try {
        const asked = { command: "waza.checkTaskId", arguments: [{ suite, id, ...(command === undefined ? {} : { command }) }] };
        const answer = (await client?.sendRequest(ExecuteCommandRequest.type, asked)) as { readonly problem: string | null } | undefined;
        return answer?.problem ?? undefined;
    } catch {
        return undefined; // it is reported when the task is created
    }
}

/** Returns the ids of the tasks of a suite; empty if unknown. */
async function idsOf(connect: Connect, suite: string): Promise<ReadonlySet<string>> {
    const client = await connect();
    try {
        const items = (await client?.sendRequest<{ readonly id: string }[]>("waza/tests", { parent: suite })) ?? [];
        return new Set(items.flatMap(({ id }) => taskOf(id) ?? []));
    } catch {
        return new Set(); // the server says it when the task is made
    }
}

/** The answer of the commands; see docs/protocol.md. */
interface Made {
    readonly files?: readonly string[];
    readonly name?: string;
    readonly types?: readonly { readonly type: string; readonly title: string }[];
}

interface InFront {
    readonly document: vscode.TextDocument;
    readonly id: string;
    readonly suite: string;
}

/** The active file, the id of its runnable and the eval file of its suite; without a suite a message says what to do. */
async function suiteInFront(connect: Connect, shown?: string): Promise<InFront | undefined> {
    const client = await connect();
    if (client === undefined) {
        return undefined;
    }
    const document = (await editorOfSuite(client, shown))?.document;
    const id = document === undefined ? undefined : runnableAt(await runnablesIn(client, document), "suite", 0);
    if (document !== undefined && id === undefined) {
        void vscode.window.showInformationMessage("Open an eval file or a task of a suite first.");
    }
    return document === undefined || id === undefined ? undefined : { document, id, suite: suiteOf(id) };
}

/** The parameters of a `waza/createFiles` request. */
export interface NewFiles {
    readonly label: string;
    readonly files: readonly { readonly uri: string; readonly text: string }[];
    readonly edit: WorkspaceEdit | null;
}

/** True while the person is asked about new files. */
let isAsking = false;

/** Shows which files are new and, when the person takes them, makes them as one change; resolves to whether it did. */
export async function createFiles(client: LanguageClient, { label, files, edit }: NewFiles): Promise<boolean> {
    const change = (await client.protocol2CodeConverter.asWorkspaceEdit(edit)) ?? new vscode.WorkspaceEdit();
    const edited = change.entries().map(([uri]) => uri);
    const made = files.map(({ uri, text }) => ({ uri: vscode.Uri.parse(uri), contents: Buffer.from(text) }));
    // The preview of refactorings would leave each of them out until it is ticked.
    const detail = [...edited, ...made.map(({ uri }) => uri)].map((uri) => vscode.workspace.asRelativePath(uri)).join("\n");
    const create = `Create ${String(edited.length + made.length)} Files`;
    if (isAsking) {
        return false; // a second click, before the first one was answered
    }
    isAsking = true;
    const chosen = await vscode.window.showInformationMessage(label, { modal: true, detail }, create);
    isAsking = false;
    if (chosen !== create) {
        return false;
    }
    made.forEach(({ uri, contents }) => {
        change.createFile(uri, { contents });
    });
    return vscode.workspace.applyEdit(change, { isRefactoring: true });
}

async function ask(connect: Connect, command: string, argument: object): Promise<Made | undefined> {
    const client = await connect();
    if (client === undefined) {
        return undefined;
    }
    try {
        return (await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] })) as Made;
    } catch (error) {
        void showRequestError(error);
        return undefined;
    }
}

async function show(file: string | undefined): Promise<void> {
    if (file !== undefined) {
        await vscode.window.showTextDocument(vscode.Uri.file(file));
    }
}
