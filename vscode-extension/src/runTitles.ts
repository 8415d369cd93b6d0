/** Titles of items, with the folder in a multi-root workspace. */

import * as vscode from "vscode";
import { suiteOf, titleOf } from "./itemIds";

/** Returns the title of an item; in a workspace with several folders it begins with the name of the folder. */
export function titleInWorkspace(id: string): string {
    const [title, folder] = [titleOf(id), folderOf(suiteOf(id))];
    return folder === undefined || title === folder || title.startsWith(`${folder} ›`) ? title : `${folder} › ${title}`;
}

/** Returns the name of the workspace folder of a file; undefined in a workspace with one folder. */
export function folderOf(file: string): string | undefined {
    const several = (vscode.workspace.workspaceFolders ?? []).length > 1;
    return several ? vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.name : undefined;
}
