/** `npm run fuzz -- --minutes N --seed S`: mutated real messages against the decoder's promises, then what hostile ones cost. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { randomInt } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { type CampaignReport, measureAttacks, runCampaign } from "./campaign.ts";
import { loadCorpus } from "./corpus.ts";
import type { Finding } from "./oracle.ts";

const mostMibPerMiB = 64;
const leastDecodedShare = 0.3;
const twinMessages = 3_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    seed: { type: "string" },
    messages: { type: "string" },
    /** In processor time. A machine that is slow or shared says so here. */
    "max-ms-per-mib": { type: "string", default: "50" },
    /** Prints the digest of the outcomes alone: what the run without generated code is compared by. */
    digest: { type: "boolean", default: false },
  },
});
const mostMsPerMiB = Number(values["max-ms-per-mib"]);
const seed = Number(values.seed ?? randomInt(2 ** 31));
const mostMessages = Number(values.messages ?? Number.MAX_SAFE_INTEGER);
const mostMs = Number(values.minutes) * 60_000;
const corpus = await loadCorpus();

if (values.digest) {
  console.log((await runCampaign({ corpus, seed, mostMessages })).digest);
} else {
  process.exitCode = (await main()) ? 0 : 1;
}

async function main(): Promise<boolean> {
  console.error(`Fuzzing with --seed ${seed} for ${values.minutes} min.`);
  const report = await runCampaign({ corpus, seed, mostMessages, mostMs, onProgress: ({ messages }) => progress(messages) });
  printReport(report);
  const share = report.decoded / Math.max(report.messages, 1);
  const verdicts = [report.findings.length === 0, share >= leastDecodedShare, twinsAgree(), costsAreBounded()];
  console.log(verdicts.every(Boolean) ? "All promises held." : `A promise was broken: repeat with --seed ${seed}.`);
  return verdicts.every(Boolean);
}

function progress(messages: number): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r${messages} messages`);
  }
}

function printReport({ messages, decoded, byCode, findings }: CampaignReport): void {
  const share = ((100 * decoded) / Math.max(messages, 1)).toFixed(1);
  console.log(`${messages} messages, ${decoded} decoded to the end (${share}%, at least ${leastDecodedShare * 100}% wanted)`);
  for (const [code, count] of Object.entries(byCode).sort(([, a], [, b]) => b - a)) {
    console.log(`  ${code}: ${count}`);
  }
  for (const finding of findings) {
    console.log(`\nBROKEN: ${describe(finding)}`);
  }
}

function describe({ promise, detail, record }: Finding): string {
  const hex = (bytes: Uint8Array | null): string => (bytes === null ? "null" : Buffer.from(bytes).toString("base64"));
  return `${promise}\n${detail}\ntopic ${record.topic}\nkey   ${hex(record.key)}\nvalue ${hex(record.value)}`;
}

/** The same messages where no code may be generated: the closures must say what the generated readers say. */
function twinsAgree(): boolean {
  const digestOf = (flags: readonly string[]): string =>
    spawnSync(
      process.execPath,
      [...flags, fileURLToPath(import.meta.url), "--digest", "--seed", String(seed), "--messages", String(twinMessages)],
      { encoding: "utf8" },
    ).stdout.trim();
  const [generated, closures] = [digestOf([]), digestOf(["--disallow-code-generation-from-strings"])];
  const agree = generated !== "" && generated === closures;
  console.log(`${twinMessages} messages with and without generated code: ${agree ? "the same" : "DIFFERENT"}`);
  return agree;
}

function costsAreBounded(): boolean {
  const costs = measureAttacks();
  console.log(`\nCost of hostile messages, per MiB (at most ${mostMsPerMiB} ms and ${mostMibPerMiB} MiB wanted)`);
  for (const { name, msPerMiB, mibPerMiB } of costs) {
    const mark = msPerMiB > mostMsPerMiB || mibPerMiB > mostMibPerMiB ? "  ABOVE" : "";
    console.log(`  ${msPerMiB.toFixed(1).padStart(7)} ms ${mibPerMiB.toFixed(1).padStart(7)} MiB  ${name}${mark}`);
  }
  return costs.every(({ msPerMiB, mibPerMiB }) => msPerMiB <= mostMsPerMiB && mibPerMiB <= mostMibPerMiB);
}
