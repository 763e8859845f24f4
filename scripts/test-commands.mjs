/**
 * `npm run test:commands`: whole commands of the product on a real stack, as users run them: cdc-bench, its pages, the examples, `npm run
 * stack:*`. They take as long as all other tests together, and `npm test` has a short one of each kind. The last line is that of `npm test`.
 */
import process from "node:process";
import { argumentsFor } from "./arguments.mjs";
import { vitestOptions, vitestOptionsText } from "./vitest-options.mjs";

argumentsFor(
  `usage: npm run test:commands -- [FILTER]... [OPTION]...

  FILTER    a part of the paths of files in test/commands (default: all)

${vitestOptionsText}`,
  vitestOptions,
);

process.argv.splice(2, 0, "--project", "commands");
await import("./test.mjs");
