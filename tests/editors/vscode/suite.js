// Runs inside VS Code's extension host, with the packaged extension installed. Writes what it saw; the test that
// started it knows what should be seen.
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const { WORKSPACE, RESULT } = process.env;
const seen = {};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const flat = (range) => [range.start.line, range.start.character, range.end.line, range.end.character];
const diagnostics = (uri) => vscode.languages.getDiagnostics(uri).filter((one) => one.source === "tritonlint");
const shown = (uri) =>
  diagnostics(uri).map((one) => ({
    code: typeof one.code === "object" ? one.code.value : one.code,
    message: one.message,
    severity: one.severity,
    range: flat(one.range),
    related: (one.relatedInformation ?? []).length,
    link: typeof one.code === "object",
  }));
const has = (uri, code) => shown(uri).some((one) => one.code === code);

async function until(what, condition) {
  for (let waited = 0; waited < 60_000; waited += 100) {
    if (await condition()) return;
    await pause(100);
  }
  throw new Error(`waited in vain: ${what}`);
}

async function open(name) {
  const uri = vscode.Uri.file(path.join(WORKSPACE, name));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  return { uri, document };
}

function replace(document, text) {
  const edit = new vscode.WorkspaceEdit();
  const last = document.lineAt(document.lineCount - 1).range.end;
  edit.replace(document.uri, new vscode.Range(new vscode.Position(0, 0), last), text);
  return vscode.workspace.applyEdit(edit);
}

const steps = {
  async gemm() {
    const { uri, document } = await open("gemm.py");
    await until("the finding of gemm.py", () => has(uri, "TL101"));
    seen.gemm = shown(uri);
    const finding = diagnostics(uri).find((one) => one.code?.value === "TL101");
    const inside = finding.range.start.translate(0, 2);
    const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, inside);
    seen.hover = hovers.flatMap((one) => one.contents.map((content) => content.value ?? String(content)));
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", uri, whole);
    seen.hints = hints.map((one) => (typeof one.label === "string" ? one.label : one.label.map((part) => part.value).join("")));
    const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri);
    seen.lenses = lenses.map((one) => one.command?.title);
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, finding.range);
    seen.actions = actions.map((one) => [one.title, one.isPreferred ?? false]);
  },
  async target() {
    const { uri } = await open("gemm.py");
    await vscode.commands.executeCommand("tritonlint.setTarget", "h100");
    await until("no finding on h100", () => !has(uri, "TL101"));
    seen.onH100 = shown(uri);
    await vscode.commands.executeCommand("tritonlint.setTarget");
    await until("the finding again", () => has(uri, "TL101"));
  },
  async fix() {
    const { uri, document } = await open("gemm.py");
    const before = document.getText();
    await until("the finding", () => has(uri, "TL101"));
    const finding = diagnostics(uri).find((one) => one.code?.value === "TL101");
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, finding.range);
    const fix = actions.find((one) => one.isPreferred && one.edit);
    seen.fix = fix?.title;
    await vscode.workspace.applyEdit(fix.edit);
    await until("the fixed finding gone", () => !has(uri, "TL101"));
    seen.fixedLine = document.lineAt(finding.range.start.line).text;
    await replace(document, before);
    await until("the finding after undoing", () => has(uri, "TL101"));
  },
  async typing() {
    const { uri, document } = await open("warps.py");
    await until("the finding of warps.py", () => has(uri, "TL204"));
    const before = document.getText();
    await replace(document, before + "\ndef broken(:\n");
    await until("the syntax error", () => has(uri, "TL901"));
    seen.broken = shown(uri);
    await replace(document, before);
    await until("the repair", () => !has(uri, "TL901") && has(uri, "TL204"));
    await document.save();
  },
  async emoji() {
    const { uri, document } = await open("emoji.py");
    await until("the finding of emoji.py", () => has(uri, "TL204"));
    const finding = diagnostics(uri).find((one) => one.code?.value === "TL204");
    seen.emoji = document.getText(finding.range);
  },
  async notebook() {
    const uri = vscode.Uri.file(path.join(WORKSPACE, "cells.ipynb"));
    const notebook = await vscode.workspace.openNotebookDocument(uri);
    await vscode.window.showNotebookDocument(notebook);
    const cells = () => notebook.getCells().map((cell) => shown(cell.document.uri).map((one) => one.code));
    await until("the finding of a cell", () => cells().flat().includes("TL204"));
    seen.cells = cells();
  },
  async settings() {
    const { uri } = await open("warps.py");
    await until("the finding", () => has(uri, "TL204"));
    const file = path.join(WORKSPACE, "tritonlint.toml");
    const before = fs.readFileSync(file, "utf8");
    fs.writeFileSync(file, before + 'ignore = ["TL204"]\n');
    await until("the setting to be seen", () => !has(uri, "TL204"));
    fs.writeFileSync(file, before);
    await until("the finding after the setting", () => has(uri, "TL204"));
    seen.settings = true;
  },
};

exports.run = async function () {
  seen.version = vscode.version;
  try {
    for (const [name, step] of Object.entries(steps)) {
      seen.step = name;
      await step();
    }
    seen.step = "done";
  } catch (error) {
    seen.error = `${seen.step}: ${error?.stack ?? error}`;
  }
  fs.writeFileSync(`${RESULT}.part`, JSON.stringify(seen));
  fs.renameSync(`${RESULT}.part`, RESULT);
};
