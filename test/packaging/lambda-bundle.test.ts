import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { build } from "esbuild";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const isBuilt = existsSync(join(root, "packages/lambda/dist/index.js"));
const skipReason = "the packages are not built: run `npm test`, or `npm run build` first";

const value =
  '{"before":null,"after":{"id":1,"customer":"Ada","amount":"1.00"},"op":"c","source":{"connector":"postgresql","schema":"shop","table":"payments"}}';

/** As Lambda's runtime does: it requires the file, and calls the export with an event that came as JSON. */
const runtime = `
const { handler } = require("./function.cjs");
const record = { topic: "t", partition: 0, timestamp: 1, key: "MQ==", headers: [] };
const records = { "t-0": [{ ...record, offset: 3, value: ${JSON.stringify(Buffer.from(value).toString("base64"))} }, { ...record, offset: 4, value: "AAAAAAk=" }] };
handler({ eventSource: "aws:kafka", records }, { getRemainingTimeInMillis: () => 5000 }).then((answer) => console.log(JSON.stringify(answer)));
`;

test.skipIf(!isBuilt)(
  "the function of the example for Lambda works as one file, and nothing of it keeps the process alive",
  { meta: { skipReason } },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "cdckit-lambda-"));
    try {
      const entryPoints = [join(root, "examples/lambda-msk/function.js")];
      await build({
        entryPoints,
        bundle: true,
        platform: "node",
        format: "cjs",
        outfile: join(folder, "function.cjs"),
        logLevel: "silent",
      });
      writeFileSync(join(folder, "runtime.cjs"), runtime);
      const env = { ...process.env, SCHEMA_REGISTRY_URL: "" };
      const lines = execFileSync(process.execPath, ["runtime.cjs"], { cwd: folder, env, encoding: "utf8", timeout: 60_000 })
        .trim()
        .split("\n");
      // pino and the console write to the same pipe, each in its time.
      const printed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(printed).toHaveLength(3);
      expect(printed).toContainEqual(expect.objectContaining({ msg: "booked", id: 1, customer: "Ada" }));
      expect(printed).toContainEqual(expect.objectContaining({ level: 50, topic: "t", partition: 0, offset: 4 }));
      expect(printed).toContainEqual({ batchItemFailures: [{ itemIdentifier: { partition: "t-0", offset: 4 } }] });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
