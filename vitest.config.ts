import { join } from "node:path";
import process from "node:process";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.mjs";

// Tests of values run on sources: the condition below is how packages see each other without a build.
const conditions = ["@cdckit/source", "node"]; // not "import": Node would be told of it for `require` too, and hand modules to CommonJS packages
const propertyRuns = join(import.meta.dirname, "test/property-runs.ts");
/** Tests get fast-check through a file of ours, which itself gets the real one. */
const plugins = [
  {
    name: "property-runs",
    enforce: "pre" as const,
    resolveId: (source: string, importer: string | undefined) =>
      source === "fast-check" && importer !== propertyRuns ? propertyRuns : undefined,
  },
];
const shared = { plugins, resolve: { conditions }, ssr: { resolve: { conditions } } };

/** What every file is run with. */
const everywhere = {
  setupFiles: ["./test/property-seed.ts", "./test/quiet-stderr.ts"],
  pool: "forks",
  // Three, also on two cores: much of what takes long waits for a broker, a session to run out, or a server to start.
  maxWorkers: 3,
  // What users run: kafkajs tries again at other times, and more often, where this is "test".
  env: { NODE_ENV: "production" },
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } }, // a busy machine stands still for longer than vitest's second
} as const;

const exclude = ["**/node_modules/**", "**/dist/**"];

/** Tests that work on values alone. They leave nothing behind, so that files share a process, and the modules that it has loaded. */
const ofValues = [
  "packages/{decode,record-batch,json-schema,registry,consumer,driver,kafkajs,confluent,platformatic,postgres,fastify,lambda,nestjs,testkit}/src/**/*.test.ts",
  "packages/cdc-bench/src/!(cli|leftovers)/**/*.test.ts",
  "test/{contract,vectors}/*.test.ts",
];

/**
 * `npm test` leaves these to `npm run test:commands`, unless it is asked for a file of them: whole commands, services and packages as users
 * have them, and what judges the scripts of this repository and its fuzz campaign.
 */
const ofCommands = [
  "test/commands/*.test.ts",
  "packages/cdc-bench/src/cli/{binary,every-command}.test.ts",
  "test/services/services.test.ts",
  "test/packaging/packed.test.ts",
  "test/{checks,reporter,rooms}.test.ts",
  "test/fuzz/planted-bugs.test.ts",
];

/** What users run: `dist`, which Node.js loads by itself. Compiling sources for each of these files took half of their time. */
const built = {
  plugins,
  resolve: { conditions: ["node"] },
  ssr: { resolve: { conditions: ["node"] } },
};

/** Tests that start processes, or ask a broker. */
const ofProcesses = {
  ...everywhere,
  server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
  // Brokers, sockets and killed processes share a machine with others in CI. What passes only at a second attempt is named at the end.
  retry: Number(process.env.TEST_RETRIES ?? 0),
};

export default defineConfig({
  ...shared,
  test: {
    sequence: { sequencer: LongestFirst },
    maxWorkers: everywhere.maxWorkers,
    // Here, and not in a project: one stack serves the files of all of them. It costs nothing until a test asks for a broker.
    globalSetup: ["test/integration/global-setup.ts"],
    projects: [
      { ...shared, test: { ...everywhere, name: "values", include: ofValues, exclude, isolate: false } },
      {
        ...built,
        test: {
          ...ofProcesses,
          name: "processes",
          include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...exclude, ...ofValues, ...ofCommands],
        },
      },
      { ...built, test: { ...ofProcesses, name: "commands", include: ofCommands, exclude } },
    ],
  },
});
