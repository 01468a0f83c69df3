// The report of a file, as a Markdown preview.
import * as vscode from "vscode";

const SCHEME = "tritonlint-report";

export class Reports implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  async show(of: vscode.Uri, text: string): Promise<void> {
    const name = of.path.split("/").pop() ?? "report";
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md`, query: of.toString() });
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
    await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
  }
}
