/**
 * `npm run test:commands`: what users start, as they start it, most of it on a real stack: cdc-bench and its pages, the examples, services, the
 * packages. And what judges the scripts of this repository. `npm test` has a few short ones. The last line is that of `npm test`.
 */
import process from "node:process";
import { argumentsFor } from "./arguments.mjs";
import { vitestOptions, vitestOptionsText } from "./vitest-options.mjs";

argumentsFor(
  `usage: npm run test:commands -- [FILTER]... [OPTION]...

  FILTER    a part of the paths of these test files (default: all)

${vitestOptionsText}`,
  vitestOptions,
);

process.argv.splice(2, 0, "--project", "commands");
await import("./test.mjs");
