// Opens VS Code's workbench in Chromium and has its extension host run the suite; ends once the suite has written
// its result. What the suite cannot do in the extension host it asks for in a file: clicks, keys, and what stands on the
// page. The workbench takes the path of a suite from its configuration only, which the page holds as JSON.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const { VSCODE, CHROMIUM, URL_, STUB, SUITE, RESULT } = process.env;
const PATIENCE = 480_000;
const { chromium } = createRequire(`${VSCODE}/package.json`)("playwright-core");

const [ASKED, ANSWER] = [`${RESULT}.asked`, `${RESULT}.answer`];

async function answer(page, { see, click, text, press }) {
  const found = see || click ? page.locator(see ?? click, text ? { hasText: text } : {}) : undefined;
  if (see) return found.allInnerTexts();
  if (click) await found.first().click({ timeout: 20_000 });
  if (press) await page.keyboard.press(press);
  return null;
}

async function serve(page) {
  if (!existsSync(ASKED)) return;
  const asked = JSON.parse(readFileSync(ASKED, "utf8"));
  rmSync(ASKED);
  const said = await answer(page, asked).then((value) => ({ value }), (error) => ({ error: String(error) }));
  writeFileSync(`${ANSWER}.part`, JSON.stringify(said));
  renameSync(`${ANSWER}.part`, ANSWER);
}

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
  for (let waited = 0; waited < PATIENCE && !existsSync(RESULT); waited += 250) {
    await page.waitForTimeout(250);
    await serve(page);
  }
  if (!existsSync(RESULT)) await page.screenshot({ path: `${RESULT}.png` });
} finally {
  await browser.close();
}
