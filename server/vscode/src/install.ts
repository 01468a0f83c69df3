// tritonlint is not there: offers to install it.
import * as vscode from "vscode";
import { interpreterToUse, neutralFolder } from "./interpreter";

const INSTALL = "Install";
const NEVER = "Don't Ask Again";
const KEY = "tritonlint.neverInstall";

/** Asks once a session; runs `then` when it was installed. */
export async function offer(state: vscode.Memento, then: () => void): Promise<void> {
  if (state.get(KEY)) return;
  const choices = vscode.workspace.isTrusted ? [INSTALL, NEVER] : [NEVER];
  const text = "tritonlint is not installed in the Python environment of this workspace.";
  const answer = await vscode.window.showWarningMessage(text, ...choices);
  if (answer === INSTALL) await install(then);
  if (answer === NEVER) await state.update(KEY, true);
}

/** Runs pip in a task that the user sees. */
export async function install(then: () => void): Promise<void> {
  const interpreter = await interpreterToUse();
  if (!interpreter) {
    void vscode.window.showErrorMessage("No Python interpreter was found; set tritonlint.interpreter.");
    return;
  }
  const run = new vscode.ProcessExecution(interpreter, ["-m", "pip", "install", "--upgrade", "tritonlint"], {
    cwd: neutralFolder(),
  });
  const task = new vscode.Task({ type: "tritonlint" }, vscode.TaskScope.Workspace, "install", "tritonlint", run);
  const started = await vscode.tasks.executeTask(task);
  const listener = vscode.tasks.onDidEndTaskProcess((event) => {
    if (event.execution !== started) return;
    listener.dispose();
    if (event.exitCode === 0) then();
  });
}
