import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.mjs";

// Tests run on sources: the condition below is how packages see each other without a build.
const conditions = ["@cdckit/source", "node"]; // not "import": Node would be told of it for `require` too, and hand modules to CommonJS packages

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    setupFiles: ["./test/property-seed.ts"],
    pool: "forks",
    // Two, also on two cores: much of what takes long waits for a broker, a session to run out, or a server to start.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // What users run: kafkajs tries again at other times, and more often, where this is "test".
    env: { NODE_ENV: "production" },
    // Costs nothing until a test asks for a broker.
    globalSetup: ["test/integration/global-setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
