// Takes the pictures of the documentation: squiggle with hints and lens, hover, quick fix, picker, and the
// report that a click on the lens shows.
import { createRequire } from "node:module";

const { VSCODE, CHROMIUM, URL_, OUT } = process.env;
const { chromium } = createRequire(`${VSCODE}/package.json`)("playwright-core");

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1360, height: 680 } });
page.setDefaultTimeout(180_000);

async function picture(name) {
  await page.waitForTimeout(1500);
  await page.screenshot({ path: `${OUT}/${name}.png` });
}

try {
  await page.goto(URL_);
  const row = page.locator(".explorer-folders-view .monaco-list-row", { hasText: "gemm.py" });
  await row.dblclick();
  await page.waitForSelector(".squiggly-warning");
  await page.waitForSelector(".codelens-decoration a");
  await page.keyboard.press("Control+b"); // the explorer away
  await page.keyboard.press("Control+Home");
  await picture("squiggle");

  const squiggle = await page.locator(".squiggly-warning").first().boundingBox();
  const middle = [squiggle.x + 300, squiggle.y + squiggle.height / 2];
  await page.mouse.move(middle[0] - 40, middle[1]);
  await page.mouse.move(...middle, { steps: 5 });
  await page.waitForSelector(".monaco-hover-content table");
  await page.waitForTimeout(2000);
  await picture("hover");
  await page.keyboard.press("Escape");
  await page.mouse.move(900, 600);
  await page.waitForTimeout(1500);

  await page.mouse.click(...middle);
  await page.mouse.move(900, 600);
  await page.waitForTimeout(1500);
  await page.locator(".codicon-gutter-lightbulb, .codicon-light-bulb, [class*=lightbulb]").first().click();
  await page.waitForSelector(".action-widget");
  await picture("actions");
  await page.keyboard.press("Escape");

  await page.locator(".statusbar-item", { hasText: "Triton" }).first().click();
  await page.waitForSelector(".quick-input-list .monaco-list-row");
  await picture("picker");
  await page.keyboard.press("Escape");

  await page.locator(".codelens-decoration a", { hasText: "configs" }).first().click();
  await page.locator(".tab", { hasText: "Preview" }).waitFor();
  await page.waitForTimeout(5000);
  await picture("lens");
} catch (error) {
  await page.screenshot({ path: `${OUT}/failed.png` });
  throw error;
} finally {
  await browser.close();
}
