import { type Command, InvalidArgumentError } from "commander";
import { parseLink } from "../codec/link.ts";
import type { ExitCode } from "../exit-codes.ts";
import { httpDefaults as defaults } from "../scenario/http/defaults.ts";
import type { Terminal } from "../terminal.ts";
import { addDemandFlags, type DemandFlags } from "./demand-options.ts";
import { collectNames, parseCount, parseDurationMs } from "./option-values.ts";
import { addProfileFlags, type ProfileFlags } from "./profile-options.ts";
import { addResultFlags, type ResultFlags } from "./result-options.ts";

export interface HttpFlags extends DemandFlags, ResultFlags, ProfileFlags {
  readonly url?: string;
  readonly schema?: string;
  readonly methods?: readonly string[];
  readonly formats?: readonly string[];
  readonly encodings?: readonly string[];
  readonly requests?: number;
  readonly duration?: number;
  readonly concurrency: number;
  readonly keepAlive: boolean;
  readonly link?: number;
  readonly rows?: number;
  readonly seed: number;
  readonly maxBody: number;
  readonly timeout: number;
  readonly quick?: boolean;
}

export function addHttp(program: Command, terminal: Terminal, settle: (code: ExitCode) => void): void {
  const command = program.command("http");
  command
    .option("--url <url>", "an API of yours in place of the one that this program starts on 127.0.0.1", parseApiUrl)
    .option("--schema <file>", "the Avro schema of a list of rows: for avro/binary of an API of yours")
    .option("--methods <names>", "get, post (default: both; of an API of yours only get)", collectNames)
    .option("--formats <names>", "json, avro, avro-headless (default: all)", collectNames)
    .option("--encodings <names>", "identity, gzip, br, zstd (default: all that this Node has)", collectNames)
    .option("--requests <n>", `requests of each method, format and encoding (default: ${defaults.requests})`, parseCount)
    .option("-d, --duration <time>", "as many requests as fit into this time, of each of them", parseDurationMs)
    .option("--concurrency <n>", "requests at once; the next one starts when one has ended", parseCount, defaults.concurrency)
    .option("--no-keep-alive", "a connection for each request")
    .option("--link <rate>", "through a proxy that lets so much pass, such as 100mbit", parseLink)
    .option("--rows <n>", `rows of the answer (default: ${defaults.rows}, 6 MB of JSON)`, parseCount)
    .option("--seed <n>", "what the rows are made from", parseCount, 1)
    .option("--max-body <bytes>", "largest answer, also when decompressed", parseCount, defaults.maxBodyBytes)
    .option("--timeout <time>", "give a request up if nothing comes for so long", parseDurationMs, defaults.timeoutMs)
    .option("--quick", `${defaults.quick.requests} requests and ${defaults.quick.rows} rows`);
  addDemandFlags(addProfileFlags(addResultFlags(command))).action(async (flags: HttpFlags) => {
    const { http } = await import("./actions/http.ts");
    settle(await http(flags, terminal));
  });
}

function parseApiUrl(text: string): string {
  if (!URL.canParse(text) || !["http:", "https:"].includes(new URL(text).protocol)) {
    throw new InvalidArgumentError("It must be an address such as http://localhost:3000/users.");
  }
  return text;
}
