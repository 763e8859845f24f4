/** `npm run format`: puts the format of every file right, from a fresh clone. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { readArguments } from "./arguments.mjs";
import { repositoryRoot, setUp, toolPath } from "./set-up.mjs";

readArguments("usage: npm run format", {});
await setUp();
const { status } = spawnSync(toolPath("biome"), ["format", "--write", "."], { cwd: repositoryRoot, stdio: "inherit" });
process.exit(status ?? 1);
