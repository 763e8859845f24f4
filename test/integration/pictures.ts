import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

/** Whether the pictures of the documents are to be taken again: `PICTURES=1 npm test -- test/commands/ui.test.ts`. */
export const arePicturesTaken = process.env["PICTURES"] === "1";

/** Takes a picture of what is seen for `docs/pictures/`. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled", caret: "hide" });
}
