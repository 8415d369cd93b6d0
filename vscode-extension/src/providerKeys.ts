/**
 * Stores the keys of model providers in the secret storage of VS Code; runs get them as environment variables.
 *
 * No file and no setting has them, and no program gets them while the workspace is not trusted.
 */

import * as vscode from "vscode";
import { isVariable } from "./runSettings";

const NAMES = "waza.providerKeys";
const KNOWN = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "COPILOT_GITHUB_TOKEN"];
const OTHER = "Another variable…";

export class ProviderKeys {
    constructor(private readonly context: vscode.ExtensionContext) {}

    /** Returns the stored keys, by variable. */
    async environment(): Promise<Record<string, string>> {
        const found: Record<string, string> = {};
        for (const name of this.names()) {
            const key = await this.context.secrets.get(secretOf(name));
            if (key !== undefined) {
                found[name] = key;
            }
        }
        return found;
    }

    /** Asks for a key and stores it; an empty one is removed. Returns whether anything has changed. */
    async askForKey(variable?: string): Promise<boolean> {
        const name = variable !== undefined && isVariable(variable) ? variable : await this.askName();
        if (name === undefined) {
            return false;
        }
        const key = await vscode.window.showInputBox({
            title: `Key for ${name}`,
            prompt: "Stored in the secret storage of VS Code. Leave it empty to remove the key.",
            password: true,
            ignoreFocusOut: true,
        });
        if (key === undefined) {
            return false;
        }
        const others = this.names().filter((each) => each !== name);
        if (key.trim() === "") {
            await this.context.secrets.delete(secretOf(name));
            await this.context.globalState.update(NAMES, others);
        } else {
            await this.context.secrets.store(secretOf(name), key.trim());
            await this.context.globalState.update(NAMES, [...others, name].sort());
        }
        return true;
    }

    private async askName(): Promise<string | undefined> {
        const set = this.names();
        const all = [...new Set([...KNOWN, ...set])];
        const items = [...all.map((label) => ({ label, description: set.includes(label) ? "set" : "" })), { label: OTHER, description: "" }];
        const chosen = await vscode.window.showQuickPick(items, { title: "Which key?" });
        if (chosen?.label !== OTHER) {
            return chosen?.label;
        }
        return vscode.window.showInputBox({
            title: "Name of the variable",
            prompt: "The variable that `provider.api_key_env` of the suite names.",
            validateInput: (text) => (isVariable(text) ? undefined : "Letters, digits and _, no digit first."),
        });
    }

    private names(): string[] {
        return this.context.globalState.get<string[]>(NAMES, []);
    }
}

function secretOf(variable: string): string {
    return `waza.key.${variable}`;
}
