#!/usr/bin/env node
import { existsSync } from "node:fs";

const entry = new URL("../dist/main.js", import.meta.url);
if (existsSync(entry)) {
  const { runProcess } = await import(entry.href);
  await runProcess();
} else {
  console.error("cdc-bench: not built yet. Run `npm run build`, then try again.");
  process.exitCode = 1;
}
