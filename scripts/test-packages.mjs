/**
 * `npm run test:packages`: the packed packages in projects as users have them (versions of Node, Jest, CommonJS, TypeScript, bundles, Bun,
 * Deno), and the Kubernetes manifests by the schemas of Kubernetes. It fetches these tools from npm, which `npm test` does not. What follows `--` goes to vitest.
 */
import process from "node:process";
import { argumentsFor } from "./arguments.mjs";
import { vitestOptions, vitestOptionsText } from "./vitest-options.mjs";

argumentsFor(`usage: npm run test:packages -- [OPTION]...\n\n${vitestOptionsText}`, vitestOptions);

process.env["PACKAGES_IN_PROJECTS"] = "1";
process.argv.splice(2, 0, "test/packaging/projects.test.ts", "test/packaging/manifests.test.ts");
await import("./test.mjs");
