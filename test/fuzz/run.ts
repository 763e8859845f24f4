/**
 * `npm run fuzz -- --minutes N [--seed S] [--encoding X] [--messages N] [--attacks TEXT]`: mutated messages against the decoder's promises,
 * the same where no code may be generated, then what hostile messages cost.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type CampaignReport, runCampaign } from "./campaign.ts";
import { loadCorpus, type Pool } from "./corpus.ts";
import { describeFinding } from "./finding.ts";
import { numberOf } from "./flags.ts";
import { measureAttacks } from "./measure-attacks.ts";
import { Watchdog } from "./watchdog.ts";

const maxMibPerMiB = 64;
const minDecodedShare = 0.3;
/** A share is told of so many messages at least. */
const minMessages = 500;
const twinMessages = 3_000;

const { values } = parseArgs({
  options: {
    /** Two, unless a number of messages is given; with both, whichever comes first. */
    minutes: { type: "string" },
    seed: { type: "string" },
    /** The one encoding whose messages are changed. */
    encoding: { type: "string" },
    messages: { type: "string" },
    /** The number of the first message, to repeat what one shows. */
    from: { type: "string", default: "0" },
    /** One message of so many is held to every promise. */
    "judged-every": { type: "string", default: "50" },
    /** In processor time. A machine that is slow or shared says so here. */
    "max-ms-per-mib": { type: "string", default: "50" },
    /** Mutated messages alone. */
    "no-attacks": { type: "boolean", default: false },
    /** Hostile messages alone, of these those whose name holds the text: "" for each. */
    attacks: { type: "string" },
    /** Prints the digest of the outcomes alone: what the run without generated code is compared by. */
    digest: { type: "boolean", default: false },
  },
});
const number = (flag: "seed" | "minutes" | "messages" | "from" | "judged-every" | "max-ms-per-mib", least: number): number | null => {
  const { [flag]: text } = values;
  try {
    return text === undefined ? null : numberOf(flag, text, least);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
};
const maxMsPerMiB = number("max-ms-per-mib", 1) ?? Number.NaN;
const seed = number("seed", 0) ?? randomInt(2 ** 31);
const from = number("from", 0) ?? 0;
const judgedEvery = number("judged-every", 1) ?? 1;
const messages = number("messages", 1);
const maxMessages = messages ?? Number.MAX_SAFE_INTEGER;
const minutes = number("minutes", 0.001) ?? (messages === null ? 2 : Number.POSITIVE_INFINITY);
const maxMs = minutes * 60_000;
const only = values.encoding === undefined ? {} : { encoding: values.encoding };

if (values.attacks !== undefined) {
  process.exitCode = (await costsAreBounded(values.attacks)) ? 0 : 1;
} else if (values.digest) {
  console.log((await runCampaign({ corpus: await corpusOf(values.encoding), seed, maxMessages, from, judgedEvery: 1, ...only })).digest);
} else {
  process.exitCode = (await main()) ? 0 : 1;
}

/** All messages. Ends the process if none of them has the encoding that was asked for. */
async function corpusOf(encoding: string | undefined): Promise<readonly Pool[]> {
  const corpus = await loadCorpus();
  const known = corpus.map((pool) => pool.encoding);
  if (encoding !== undefined && !known.includes(encoding)) {
    console.error(`--encoding must be of ${known.join(", ")}, got "${encoding}"`);
    process.exit(2);
  }
  return corpus;
}

async function main(): Promise<boolean> {
  const limit = values.messages === undefined ? `for ${minutes} min` : `, ${values.messages} messages`;
  console.error(`Fuzzing ${values.encoding ?? "every encoding"} with --seed ${seed} ${limit}.`);
  const corpus = await corpusOf(values.encoding); // on a busy machine this takes longer than any message may
  const watchdog = new Watchdog(`npm run fuzz -- --seed ${seed}${values.encoding === undefined ? "" : ` --encoding ${values.encoding}`}`);
  const start = performance.now();
  const report = await runCampaign({
    corpus,
    seed,
    maxMessages,
    from,
    judgedEvery,
    maxMs,
    ...only,
    onMessage: (message) => watchdog.saw(message),
    onProgress: progress,
  });
  await watchdog.stop();
  printReport(report, performance.now() - start);
  const verdicts = [report.messages > 0, report.findings.length === 0, sharesSuffice(report)];
  if (!values["no-attacks"]) {
    verdicts.push(twinsAgree(), await costsAreBounded());
  }
  console.log(verdicts.every(Boolean) ? "All promises held." : `A promise was broken: repeat with --seed ${seed}.`);
  return verdicts.every(Boolean);
}

function progress(messages: number): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r${messages} messages`);
  }
}

function sharesSuffice({ byEncoding }: CampaignReport): boolean {
  return Object.values(byEncoding).every(({ messages, decoded }) => messages < minMessages || decoded / messages >= minDecodedShare);
}

function printReport({ messages, byEncoding, byCode, findings }: CampaignReport, ms: number): void {
  const rate = Math.round((1_000 * messages) / ms);
  console.log(`${messages} messages in ${(ms / 1_000).toFixed(1)} s (${rate} a second), seed ${seed}, ${findings.length} findings`);
  for (const [encoding, { messages: all, decoded }] of Object.entries(byEncoding)) {
    const share = ((100 * decoded) / all).toFixed(1);
    console.log(`  ${encoding}: ${all} messages, ${share}% decoded to the end (at least ${minDecodedShare * 100}% wanted)`);
  }
  for (const [code, count] of Object.entries(byCode).sort(([, a], [, b]) => b - a)) {
    console.log(`  ${code}: ${count}`);
  }
  for (const finding of findings) {
    const repeat = `npm run fuzz -- --seed ${seed} --from ${finding.message} --messages 1 --judged-every 1 --no-attacks`;
    const of = values.encoding === undefined ? "" : ` --encoding ${values.encoding}`;
    console.log(`\nBROKEN: ${describeFinding(finding, `repeat  ${repeat}${of}`)}`);
  }
}

/** The same messages where no code may be generated: the closures must say what the generated readers say. */
function twinsAgree(): boolean {
  const count = Math.min(twinMessages, maxMessages);
  const args = ["--digest", "--seed", String(seed), "--messages", String(count)];
  const of = values.encoding === undefined ? [] : ["--encoding", values.encoding];
  const digestOf = (flags: readonly string[]): string =>
    spawnSync(process.execPath, [...flags, fileURLToPath(import.meta.url), ...args, ...of], { encoding: "utf8" }).stdout.trim();
  const [generated, closures] = [digestOf([]), digestOf(["--disallow-code-generation-from-strings"])];
  const agree = generated !== "" && generated === closures;
  console.log(`${count} messages with and without generated code: ${agree ? "the same" : "DIFFERENT"}`);
  return agree;
}

async function costsAreBounded(nameHolds = ""): Promise<boolean> {
  const costs = await measureAttacks(nameHolds);
  console.log(`\nCost of hostile messages, per MiB (at most ${maxMsPerMiB} ms and ${maxMibPerMiB} MiB wanted)`);
  for (const { name, msPerMiB, mibPerMiB, schemaMs } of costs) {
    const mark = msPerMiB > maxMsPerMiB || mibPerMiB > maxMibPerMiB ? "  ABOVE" : "";
    console.log(
      `  ${msPerMiB.toFixed(1).padStart(7)} ms ${mibPerMiB.toFixed(1).padStart(7)} MiB  ${name}${schemaMs > 0 ? ` (its schema ${schemaMs.toFixed(1)} ms, once)` : ""}${mark}`,
    );
  }
  if (costs.length === 0) {
    console.log(`  no hostile message has "${nameHolds}" in its name`);
  }
  return costs.length > 0 && costs.every(({ msPerMiB, mibPerMiB }) => msPerMiB <= maxMsPerMiB && mibPerMiB <= maxMibPerMiB);
}
