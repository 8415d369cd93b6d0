/**
 * Indents the line after Enter in a suite file to the key of the previous line, not to the dash before the key.
 *
 * The server does the same and more (`textDocument/onTypeFormatting`), but its answer arrives after the key press, and VS Code drops
 * it if the user types on. Enter rules apply to a whole language, so they are registered only while the active editor shows a suite
 * file; other YAML is not affected.
 */

import * as vscode from "vscode";

const KEY = String.raw`(?:[\w.-]+|"[^"]*"|'[^']*'):`;
const VALUE = String.raw`[^\s#|>\[{].*`;

/** The text of a line up to the cursor, and the indentation of the next line in addition to that of the dash. */
const RULES: readonly { readonly line: RegExp; readonly indentation: string }[] = [
    { line: new RegExp(`^\\s*- ${KEY}\\s+${VALUE}$`), indentation: "  " },
    { line: new RegExp(`^\\s*- ${KEY}\\s*(?:[|>][-+0-9]*)?\\s*$`), indentation: "    " },
    { line: new RegExp(`^\\s*${KEY}\\s*[|>][-+0-9]*\\s*$`), indentation: "  " },
];

/** Registers the rules while the active editor needs them. */
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
