/**
 * `npm run test:packages`: the packed packages in projects as users have them (versions of Node, Jest, CommonJS, TypeScript, bundles, Bun,
 * Deno). It fetches these tools from npm, which `npm test` does not. What follows `--` goes to vitest.
 */
import process from "node:process";

process.env["PACKAGES_IN_PROJECTS"] = "1";
process.argv.splice(2, 0, "test/packaging/projects.test.ts");
await import("./test.mjs");
