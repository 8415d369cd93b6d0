/**
 * Enter in a suite file: the next line begins below the key before it, not below the dash in front of that.
 *
 * The server says the same (`textDocument/onTypeFormatting`) and knows more, but its answer comes after the key is
 * pressed, and a fast hand loses it. The rules belong to the language, so they are there only while the active editor
 * shows a suite file: other YAML stays as it was.
 */

import * as vscode from "vscode";

const KEY = String.raw`(?:[\w.-]+|"[^"]*"|'[^']*'):`;
const VALUE = String.raw`[^\s#|>\[{].*`;

/** Rules from the text of a line up to the cursor to the indentation of the next one; `behindDash` is how far below the dash it begins. */
const RULES: readonly { readonly line: RegExp; readonly indentation: string }[] = [
    { line: new RegExp(`^\\s*- ${KEY}\\s+${VALUE}$`), indentation: "  " },
    { line: new RegExp(`^\\s*- ${KEY}\\s*(?:[|>][-+0-9]*)?\\s*$`), indentation: "    " },
    { line: new RegExp(`^\\s*${KEY}\\s*[|>][-+0-9]*\\s*$`), indentation: "  " },
];

/** Keeps the rules of YAML as the active editor needs them. */
export class EnterRules implements vscode.Disposable {
    private rules: vscode.Disposable | undefined;
    private readonly subscriptions: vscode.Disposable[];

    constructor(private readonly isSuiteFile: (document: vscode.TextDocument) => boolean) {
        this.subscriptions = [
            vscode.window.onDidChangeActiveTextEditor(() => {
                this.update();
            }),
            vscode.workspace.onDidChangeTextDocument(({ document }) => {
                if (this.rules === undefined && document === vscode.window.activeTextEditor?.document) {
                    this.update();
                }
            }),
        ];
        this.update();
    }

    dispose(): void {
        this.rules?.dispose();
        vscode.Disposable.from(...this.subscriptions).dispose();
    }

    private update(): void {
        const document = vscode.window.activeTextEditor?.document;
        const isNeeded = document !== undefined && this.isSuiteFile(document);
        if (isNeeded && this.rules === undefined) {
            const onEnterRules = RULES.map(({ line, indentation }) => ({
                beforeText: line,
                action: { indentAction: vscode.IndentAction.None, appendText: indentation },
            }));
            this.rules = vscode.languages.setLanguageConfiguration("yaml", { onEnterRules });
        } else if (!isNeeded) {
            this.rules?.dispose();
            this.rules = undefined;
        }
    }
}
