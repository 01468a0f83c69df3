// The extension as users have it most of the time: one trusted folder, tritonlint installed.
const { diagnostics, fs, has, open, page, path, replace, run, seen, shown, until, vscode, WORKSPACE } = require("./common.js");

const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label));

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
  async fixAll() {
    const { uri, document } = await open("gemm.py");
    const before = document.getText();
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const kind = vscode.CodeActionKind.SourceFixAll.value;
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, whole, kind);
    seen.fixAll = actions.map((one) => one.title);
    const configuration = vscode.workspace.getConfiguration("editor", document);
    await configuration.update("codeActionsOnSave", { "source.fixAll": "always" }, vscode.ConfigurationTarget.Global);
    await replace(document, `${before}\n`);
    await document.save();
    await until("the finding fixed by saving", () => !has(uri, "TL101") && !document.getText().includes("num_stages=4"));
    await configuration.update("codeActionsOnSave", undefined, vscode.ConfigurationTarget.Global);
    await replace(document, before);
    await document.save();
    await until("the finding after undoing", () => has(uri, "TL101"));
  },
  async target() {
    const { uri } = await open("gemm.py");
    await vscode.commands.executeCommand("tritonlint.setTarget", "h100");
    await until("no finding on h100", () => !has(uri, "TL101"));
    seen.onH100 = shown(uri);
    await vscode.commands.executeCommand("tritonlint.setTarget");
    await until("the finding again", () => has(uri, "TL101"));
  },
  async targetByAction() {
    const { uri } = await open("gemm.py");
    await until("the finding", () => has(uri, "TL101"));
    const finding = diagnostics(uri).find((one) => one.code?.value === "TL101");
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, finding.range);
    const { command } = actions.find((one) => one.title === "Show on GPU h100");
    await vscode.commands.executeCommand(command.command, ...command.arguments);
    await until("no finding on h100", () => !has(uri, "TL101"));
    await until("the status bar", async () => (await page({ see: ".statusbar-item", text: "h100" })).length);
    await vscode.commands.executeCommand("tritonlint.setTarget");
    await until("the finding again", () => has(uri, "TL101"));
    seen.targetByAction = true;
  },
  async picker() {
    const { uri } = await open("gemm.py");
    const finding = diagnostics(uri).find((one) => one.code?.value === "TL101");
    const asked = vscode.commands.executeCommand("tritonlint.selectGpu");
    await until("the list", async () => (await page({ see: ".quick-input-list .monaco-list-row" })).length > 3);
    seen.picker = await page({ see: ".quick-input-list .monaco-list-row" });
    await page({ click: ".quick-input-list .monaco-list-row", text: "mine" });
    await asked;
    const inside = finding.range.start.translate(0, 2);
    const limits = async () => {
      const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, inside);
      return hovers.flatMap((one) => one.contents.map((content) => content.value ?? String(content))).join();
    };
    await until("the limits of the user's own GPU", async () => (await limits()).includes("~~mine~~"));
    await vscode.commands.executeCommand("tritonlint.setTarget");
    await until("the finding again", async () => (await limits()).includes("~~rtx4090~~"));
  },
  async page() {
    const { uri } = await open("gemm.py");
    const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri);
    const lens = lenses.find((one) => one.command?.title.includes("configs"));
    await vscode.commands.executeCommand(lens.command.command, ...lens.command.arguments);
    seen.report = await until("the report", () => tabs().find((label) => label.includes("gemm.py.md")));
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    const finding = diagnostics(uri).find((one) => one.code?.value === "TL101");
    const { path: command, query } = finding.code.target;
    await vscode.commands.executeCommand(command, ...JSON.parse(query));
    seen.page = await until("the page of the rule", () => tabs().find((label) => label.includes("TL101")));
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  },
  async switches() {
    const { uri, document } = await open("gemm.py");
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const own = () => vscode.workspace.getConfiguration("tritonlint");
    const count = async (command, ...rest) => (await vscode.commands.executeCommand(command, uri, ...rest)).length;
    const shows = {
      "codeLens.enable": () => count("vscode.executeCodeLensProvider"),
      "inlayHints.enable": () => count("vscode.executeInlayHintProvider", whole),
      enable: async () => diagnostics(uri).length,
    };
    for (const [name, shown] of Object.entries(shows)) {
      await until(`${name} on`, async () => (await shown()) > 0);
      await own().update(name, false, vscode.ConfigurationTarget.Global);
      await until(`${name} off`, async () => (await shown()) === 0);
      await own().update(name, undefined, vscode.ConfigurationTarget.Global);
      await until(`${name} on again`, async () => (await shown()) > 0);
    }
    seen.switches = Object.keys(shows);
  },
  async walkthrough() {
    await vscode.commands.executeCommand("workbench.action.openWalkthrough", "tritonlint.tritonlint#start");
    const steps = ".getting-started-step, .step-title";
    seen.walkthrough = await until("the walkthrough", async () => {
      const found = await page({ see: steps });
      return found.length >= 4 && found;
    });
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
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

exports.run = () => run(steps);
