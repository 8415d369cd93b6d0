/**
 * Creates suites, tasks and graders: asks the user, then requests a draft from the server.
 *
 * The engine decides the content and the location; `waza-engine new` creates the same drafts.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient, type WorkspaceEdit } from "vscode-languageclient/node";
import { editorOfSuite } from "./activeSuite";
import { revealAddedLines } from "./addedLines";
import { promptOf, runnableOf, suiteIdOf, suiteOf, taskId, taskIdProblem, taskOf, trialNumberOf } from "./itemIds";
import { plain } from "./messages";
import { showRequestError } from "./requestErrors";
import type { AnsweredTask } from "./resultHtml";
import { runnableAt, runnablesIn } from "./runnables";
import { SKILL_GLOB } from "./suiteFiles";
import { DRAFTS_NEED_TRUST, isTrustedFor } from "./trust";

/** Starts the server unless it is up; undefined, after a message, if it cannot be started. */
export type EnsureRunning = () => Promise<LanguageClient | undefined>;

/** Creates a suite for a skill and opens it; asks for the skill unless the Explorer passes one. */
export async function createSuite(ensureRunning: EnsureRunning, skill?: vscode.Uri): Promise<void> {
    if (!isTrustedFor(DRAFTS_NEED_TRUST)) {
        return;
    }
    if (skill !== undefined) {
        await executeCommand(ensureRunning, "waza.newSuite", { skill: skill.fsPath });
        return;
    }
    const skills = await vscode.workspace.findFiles(SKILL_GLOB, "**/node_modules/**", 200);
    if (skills.length === 0) {
        const create = "New SKILL.md…";
        if ((await vscode.window.showInformationMessage("There is no SKILL.md in this workspace; a suite is drafted from one.", create)) === create) {
            await createSkill();
        }
        return;
    }
    const items = skills.map((file) => ({
        label: path.basename(path.dirname(file.fsPath)),
        description: vscode.workspace.asRelativePath(file),
        file,
    }));
    items.sort((one, other) => one.description.localeCompare(other.description)); // findFiles returns them in any order
    const options = { title: "New Suite", placeHolder: "The skill to evaluate", matchOnDescription: true };
    const chosen = await vscode.window.showQuickPick(items, options);
    if (chosen !== undefined) {
        await executeCommand(ensureRunning, "waza.newSuite", { skill: chosen.file.fsPath }); // the server opens it
    }
}

/** Creates a skill and selects its placeholder description; its lens then creates the suite. */
async function createSkill(): Promise<void> {
    const root = vscode.workspace.workspaceFolders?.[0]?.uri;
    const name = await vscode.window.showInputBox({ title: "New SKILL.md", prompt: "The name of the skill and of its folder", placeHolder: "pdf-filler", validateInput: skillNameProblem });
    if (root === undefined || name === undefined) {
        return;
    }
    const file = vscode.Uri.joinPath(root, "skills", name, "SKILL.md");
    const [head, described] = [`---\nname: ${name}\ndescription: `, "The work of the skill, and when to use it."];
    // The file may exist in a folder that the search excludes: keep its text.
    const created = new vscode.WorkspaceEdit();
    created.createFile(file, { ignoreIfExists: true, contents: Buffer.from(`${head}${described}\n---\n\n# ${name}\n\nWhat the agent should do, step by step.\n`) });
    await vscode.workspace.applyEdit(created);
    const editor = await vscode.window.showTextDocument(file);
    editor.selection = new vscode.Selection(editor.document.positionAt(head.length), editor.document.positionAt(head.length + described.length));
}

/** Returns why a skill cannot have this name; undefined if it can. */
function skillNameProblem(name: string): string | undefined {
    return /^[a-z0-9]+(?:-[a-z0-9]+)*$/u.test(name) && name.length <= 64 ? undefined : "Write up to 64 lowercase letters, digits and single hyphens.";
}

/**
 * Creates a task in the suite of the active file and opens it.
 *
 * @param shownSuite the eval file of the result page in front, if one is
 */
export async function createTask(ensureRunning: EnsureRunning, shownSuite?: string): Promise<void> {
    if (!isTrustedFor(DRAFTS_NEED_TRUST)) {
        return;
    }
    const { id: suiteId, suite } = (await activeSuite(ensureRunning, shownSuite)) ?? {};
    if (suiteId === undefined) {
        return;
    }
    const taken = await taskIdsOf(ensureRunning, suiteIdOf(suiteId));
    const id = await vscode.window.showInputBox({
        title: "New Task",
        prompt: "The id of the task, the name of its file",
        placeHolder: "explains-loops",
        validateInput: async (text) => taskIdProblem(text, taken) ?? (await taskProblem(ensureRunning, suite, text)),
    });
    if (id === undefined) {
        return;
    }
    const prompt = await vscode.window.showInputBox({ title: "New Task", prompt: "The prompt for the agent; press Enter to write it later" });
    if (prompt !== undefined) {
        const created = await executeCommand(ensureRunning, "waza.newTask", { suite, id, prompt });
        await openFile(created?.files?.[0]);
    }
}

/**
 * Creates a task from a recorded trial of another task and opens it.
 *
 * @param item the id of a task, a trial or a grader; for a suite, the user chooses the task
 * @param record the result file; by default the newest one
 */
export async function saveRecordAsTask(ensureRunning: EnsureRunning, item: string, record?: string): Promise<void> {
    if (!isTrustedFor(DRAFTS_NEED_TRUST)) {
        return;
    }
    const [suite = "", task] = runnableOf(item).split("::");
    if (promptOf(item) !== undefined || task === "") {
        void vscode.window.showInformationMessage("Choose a task that has run: its recorded answer becomes a new task.");
        return;
    }
    const id = task === undefined ? await chooseAnsweredTask(ensureRunning, suite, record) : `${suite}::${task}`;
    if (id === undefined) {
        return;
    }
    const taken = await taskIdsOf(ensureRunning, suite);
    const name = await vscode.window.showInputBox({
        title: "Save Record as Task",
        prompt: "The id of the new task, the name of its file",
        placeHolder: "explains-loops-again",
        validateInput: async (text) => taskIdProblem(text, taken) ?? (await taskProblem(ensureRunning, suiteOf(suite), text, "waza.saveRecordAsTask")),
    });
    if (name !== undefined) {
        const trial = trialNumberOf(item);
        const params = { id, name, ...(trial === undefined ? {} : { trial: String(trial) }), ...(record === undefined ? {} : { record }) };
        await executeCommand(ensureRunning, "waza.saveRecordAsTask", params); // the server opens the file
    }
}

/** Returns the id of a task that has an answer in a run; asks which one if there are several. */
async function chooseAnsweredTask(ensureRunning: EnsureRunning, suite: string, record: string | undefined): Promise<string | undefined> {
    const client = await ensureRunning();
    if (client === undefined) {
        return undefined;
    }
    try {
        const params = { id: suite, ...(record === undefined ? {} : { record }) };
        const page = await client.sendRequest<{ answered: readonly AnsweredTask[] }>("waza/resultDocument", params);
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

/** Adds a grader to the active eval file or task file. */
export async function createGrader(ensureRunning: EnsureRunning): Promise<void> {
    if (!isTrustedFor(DRAFTS_NEED_TRUST)) {
        return;
    }
    const document = (await activeSuite(ensureRunning))?.document;
    if (document === undefined) {
        return;
    }
    const offered = await executeCommand(ensureRunning, "waza.graderTypes", {});
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
        void vscode.window.showWarningMessage(plain(`The grader was not added: ${name} could not be saved. It may be read-only.`));
        return;
    }
    const before = document.getText();
    const created = await executeCommand(ensureRunning, "waza.newGrader", { file: document.uri.fsPath, type: chosen.label });
    if (created !== undefined) {
        await revealAddedLines(document, before, created.name ?? "");
    }
}

/** Requests why the suite cannot have a new task with this id, for example because no pattern matches its file; undefined if it can. */
async function taskProblem(ensureRunning: EnsureRunning, suite: string | undefined, id: string, command?: string): Promise<string | undefined> {
    const client = await ensureRunning();
    try {
        const params = { command: "waza.checkTaskId", arguments: [{ suite, id, ...(command === undefined ? {} : { command }) }] };
        const answer = (await client?.sendRequest(ExecuteCommandRequest.type, params)) as { readonly problem: string | null } | undefined;
        return answer?.problem ?? undefined;
    } catch {
        return undefined; // the error is reported when the task is created
    }
}

/** Requests the ids of the tasks of a suite; empty if the request fails. */
async function taskIdsOf(ensureRunning: EnsureRunning, suite: string): Promise<ReadonlySet<string>> {
    const client = await ensureRunning();
    try {
        const items = (await client?.sendRequest<{ readonly id: string }[]>("waza/tests", { parent: suite })) ?? [];
        return new Set(items.flatMap(({ id }) => taskOf(id) ?? []));
    } catch {
        return new Set(); // the error is reported when the task is created
    }
}

/** The answer of the commands, with different keys for each; see docs/protocol.md. */
interface CommandAnswer {
    readonly files?: readonly string[];
    readonly name?: string;
    readonly types?: readonly { readonly type: string; readonly title: string }[];
}

interface ActiveSuite {
    readonly document: vscode.TextDocument;
    readonly id: string;
    readonly suite: string;
}

/** Returns the active file, the id of its suite and its eval file; undefined after a message if there is no suite. */
async function activeSuite(ensureRunning: EnsureRunning, shownSuite?: string): Promise<ActiveSuite | undefined> {
    const client = await ensureRunning();
    if (client === undefined) {
        return undefined;
    }
    const document = (await editorOfSuite(client, shownSuite))?.document;
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

/** True while the dialog about new files is open. */
let isDialogOpen = false;

/** Asks whether to create files, then creates them in one undoable change; returns whether it did. */
export async function createFiles(client: LanguageClient, { label, files, edit }: NewFiles): Promise<boolean> {
    const change = (await client.protocol2CodeConverter.asWorkspaceEdit(edit)) ?? new vscode.WorkspaceEdit();
    const edited = change.entries().map(([uri]) => uri);
    const created = files.map(({ uri, text }) => ({ uri: vscode.Uri.parse(uri), contents: Buffer.from(text) }));
    // The refactoring preview would exclude each file until the user ticks it.
    const detail = [...edited, ...created.map(({ uri }) => uri)].map((uri) => vscode.workspace.asRelativePath(uri)).join("\n");
    const create = `Create ${String(edited.length + created.length)} Files`;
    if (isDialogOpen) {
        return false; // a second click while the dialog is open
    }
    isDialogOpen = true;
    const chosen = await vscode.window.showInformationMessage(label, { modal: true, detail }, create);
    isDialogOpen = false;
    if (chosen !== create) {
        return false;
    }
    created.forEach(({ uri, contents }) => {
        change.createFile(uri, { contents });
    });
    return vscode.workspace.applyEdit(change, { isRefactoring: true });
}

async function executeCommand(ensureRunning: EnsureRunning, command: string, argument: object): Promise<CommandAnswer | undefined> {
    const client = await ensureRunning();
    if (client === undefined) {
        return undefined;
    }
    try {
        return (await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] })) as CommandAnswer;
    } catch (error) {
        void showRequestError(error);
        return undefined;
    }
}

async function openFile(file: string | undefined): Promise<void> {
    if (file !== undefined) {
        await vscode.window.showTextDocument(vscode.Uri.file(file));
    }
}
