// Opens VS Code's workbench in Chromium and has its extension host run the suite; ends once the suite has written
// its result. The workbench takes the path of a suite from its configuration only, which the page holds as JSON.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const { VSCODE, CHROMIUM, URL_, STUB, SUITE, RESULT } = process.env;
const { chromium } = createRequire(`${VSCODE}/package.json`)("playwright-core");

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(
    ({ stub, suite }) => {
      const onServer = (path) => ({ $mid: 1, scheme: "vscode-remote", authority: location.host, path });
      const watch = new MutationObserver(() => {
        const holder = document.getElementById("vscode-workbench-web-configuration");
        if (!holder) return;
        watch.disconnect();
        const settings = JSON.parse(holder.getAttribute("data-settings"));
        settings.developmentOptions = { extensions: [onServer(stub)], extensionTestsPath: onServer(suite) };
        holder.setAttribute("data-settings", JSON.stringify(settings));
      });
      watch.observe(document, { childList: true, subtree: true });
    },
    { stub: STUB, suite: SUITE },
  );
  await page.goto(URL_);
  for (let waited = 0; waited < 240_000 && !existsSync(RESULT); waited += 250) await page.waitForTimeout(250);
} finally {
  await browser.close();
}
