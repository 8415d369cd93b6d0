/** Titles of runnables that distinguish the folders of a window. */

import * as vscode from "vscode";
import { suiteOf, titleOf } from "./runnables";

/** Returns the title of a runnable; in a window of several folders it begins with the name of its folder. */
export function titleInWorkspace(id: string): string {
    const [title, folder] = [titleOf(id), folderOf(suiteOf(id))];
    return folder === undefined || title === folder || title.startsWith(`${folder} ›`) ? title : `${folder} › ${title}`;
}

/** The name of the folder that a file is in, in a window of several; undefined in another. */
export function folderOf(file: string): string | undefined {
    const several = (vscode.workspace.workspaceFolders ?? []).length > 1;
    return several ? vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.name : undefined;
}
