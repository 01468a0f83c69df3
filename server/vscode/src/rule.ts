// The page of a rule, behind the code of a finding: the server links to a Markdown file, which would open as raw text.
import * as vscode from "vscode";

const SHOW = "tritonlint.showRule";

/** Has the links of findings show the rendered page. */
export function withPages(diagnostics: vscode.Diagnostic[]): vscode.Diagnostic[] {
  for (const { code } of diagnostics) {
    if (typeof code === "object" && code.target.scheme === "file") {
      const page = encodeURIComponent(JSON.stringify([code.target.toString()]));
      code.target = vscode.Uri.parse(`command:${SHOW}?${page}`);
    }
  }
  return diagnostics;
}

export function registerPages(): vscode.Disposable {
  return vscode.commands.registerCommand(SHOW, (page: string) =>
    vscode.commands.executeCommand("markdown.showPreviewToSide", vscode.Uri.parse(page)),
  );
}
