// The GPUs that are looked at: shown in the status bar, picked from a list, remembered for the workspace.
import * as vscode from "vscode";

/** What the server says of itself (`tritonlint/status`). */
export interface Status {
  uri: string;
  gpus: string[];
  triton: string;
  targets: string;
  problem: string;
}

export interface Gpu {
  name: string;
  detail: string;
}

const KEY = "tritonlint.target";
const FROM_SETTINGS = "As the settings say";

export class Target implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("tritonlint.target", vscode.StatusBarAlignment.Right, 90);
  private readonly listener: vscode.Disposable;
  private status: Status | undefined;

  constructor(private readonly state: vscode.Memento) {
    this.item.name = "tritonlint: target GPU";
    this.item.command = "tritonlint.selectGpu";
    this.listener = vscode.window.onDidChangeActiveTextEditor(() => this.draw());
    this.draw();
  }

  dispose(): void {
    this.item.dispose();
    this.listener.dispose();
  }

  /** The GPUs that were picked; none: the settings decide. */
  get picked(): string[] {
    return this.state.get<string[]>(KEY, []);
  }

  remember(gpus: string[]): Thenable<void> {
    return this.state.update(KEY, gpus.length ? gpus : undefined);
  }

  show(status: Status | undefined): void {
    this.status = status;
    this.draw();
  }

  /** Asks the user; undefined where nothing was picked. */
  async ask(gpus: Gpu[]): Promise<string[] | undefined> {
    const now = new Set(this.status?.gpus ?? this.picked);
    const items: vscode.QuickPickItem[] = [
      { label: FROM_SETTINGS, description: this.picked.length ? "" : "now" },
      { label: "", kind: vscode.QuickPickItemKind.Separator },
      ...gpus.map((gpu) => ({ label: gpu.name, description: now.has(gpu.name) ? "now" : "", detail: gpu.detail })),
    ];
    const answer = await vscode.window.showQuickPick(items, {
      title: "tritonlint: show configs on which GPU?",
      placeHolder: "h100, rtx4090, sm_90, ...",
      matchOnDetail: true,
    });
    if (!answer) return undefined;
    return answer.label === FROM_SETTINGS ? [] : [answer.label];
  }

  private draw(): void {
    const language = vscode.window.activeTextEditor?.document.languageId;
    if (!this.status || language !== "python") {
      this.item.hide();
      return;
    }
    const { gpus, triton, targets, problem } = this.status;
    const names = gpus.length > 3 ? `${gpus[0]} +${gpus.length - 1}` : gpus.join(", ");
    this.item.text = problem ? "$(warning) tritonlint" : `$(circuit-board) ${names} · Triton ${triton}`;
    this.item.tooltip = problem || `tritonlint checks for ${targets}`;
    this.item.backgroundColor = problem ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.item.show();
  }
}
