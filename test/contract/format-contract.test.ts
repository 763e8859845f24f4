import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDecoder } from "@cdckit/decode";
import { type FormatSample, type TestFramework, testFormatContract } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { decoderOptions, type Sample } from "../vectors/sample.ts";
import { allSamples } from "../vectors/samples.ts";
import { formatResults } from "./format-results.ts";

/** The results of the last run. `node scripts/format-tables.mjs` writes them, and makes the tables of docs/formats.md of them. */
const resultsFile = join(import.meta.dirname, "format-results.json");

/** A record of nulls is in no format. */
const samples = (await allSamples()).filter(({ events, formats, keyFormats, record }) =>
  record.value === null ? keyFormats.length === 2 : events !== null && formats.length === 3,
);
const failed = new Set<Sample>();

const files = [...new Set(samples.map(({ file }) => file))];
for (const file of files) {
  for (const sample of samples.filter((one) => one.file === file)) {
    // A few each: there are some 1,400 samples, and the fuzz campaign changes millions.
    testFormatContract(file, noting(sample), { samples: [contractSample(sample)], changes: 6, cuts: 10 });
  }
}

test("every built-in format has passed", async () => {
  const { candidates } = await createDecoder().explain({ ...(samples[0] as Sample).record, value: Buffer.from("{}") });
  const passed = formatResults(samples.filter((sample) => !failed.has(sample)));
  const missing = candidates.filter(({ layer, name }) => passed[layer][name] === undefined);
  const add = "each format needs a vector that passes: add one to test/vectors, as test/vectors/README.md explains";
  expect(
    missing.map(({ layer, name }) => `${layer} ${name}`),
    add,
  ).toEqual([]);
});

test("format-results.json has the results of this run", () => {
  const results = `${JSON.stringify(formatResults(samples.filter((sample) => !failed.has(sample))), null, 2)}\n`;
  if (process.env["CDCKIT_WRITE_FORMAT_RESULTS"] !== undefined) {
    writeFileSync(resultsFile, results);
  }
  expect(JSON.parse(results), "run node scripts/format-tables.mjs: the vectors have changed").toEqual(
    JSON.parse(readFileSync(resultsFile, "utf8")),
  );
});

function contractSample(sample: Sample): FormatSample {
  const { name, record, formats, keyFormats, events } = sample;
  const [framing = "", encoding = "", envelope = "none"] = record.value === null ? keyFormats : formats;
  return { name, record, options: decoderOptions(sample), framing, encoding, envelope, events: events ?? [] };
}

interface NamedTrial {
  readonly name: string;
  readonly body: () => Promise<void>;
}

/**
 * The test framework, which notes what a sample did not pass. The trials of a sample are one test: ten thousand tests would take as long to
 * be counted as to be run.
 */
function noting(sample: Sample): TestFramework {
  let trials: NamedTrial[] = [];
  const run = (name: string, body: () => Promise<void>): void => void trials.push({ name, body });
  const suite = (name: string, body: () => void): void =>
    void describe(name, () => {
      trials = [];
      body();
      const own = trials;
      if (own.length > 0) {
        test(`holds to ${own.length} trials`, () => runAll(own, sample));
      }
      trials = [];
    });
  return { describe: suite, expect, test: Object.assign(run, { skip: test.skip }) };
}

async function runAll(trials: readonly NamedTrial[], sample: Sample): Promise<void> {
  for (const { name, body } of trials) {
    try {
      await body();
    } catch (error) {
      failed.add(sample);
      throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}
