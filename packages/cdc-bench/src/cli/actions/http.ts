import { readFileSync } from "node:fs";
import { BenchError } from "../../bench-error.ts";
import { createDataSet, type DataSet, seededDataSets } from "../../codec/data-sets.ts";
import { areSameValues } from "../../codec/same-values.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { withoutLogin } from "../../leftovers/thing.ts";
import { openFaultProxy } from "../../load/fault-proxy.ts";
import { createObserver, type Observer } from "../../observe/observer.ts";
import { formatCount } from "../../report/quantities.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { openResultSink } from "../../report/result-sink.ts";
import { startRunTime } from "../../result/run-time.ts";
import { type ApiClientOptions, type Ask, type Asked, createApiClient } from "../../scenario/http/api-client.ts";
import { rowsPath } from "../../scenario/http/api-server.ts";
import { bodyFormats, type FormatName, mediaTypes } from "../../scenario/http/body-formats.ts";
import { contentCodings } from "../../scenario/http/content-codings.ts";
import { httpDefaults as defaults, maxConcurrency } from "../../scenario/http/defaults.ts";
import { explainHttp } from "../../scenario/http/explain-http.ts";
import { foreignCodecs } from "../../scenario/http/foreign-codecs.ts";
import { httpMetrics, type HttpResult } from "../../scenario/http/http-result.ts";
import { type HttpFigures, type HttpPlan, measureHttp } from "../../scenario/http/measure-http.ts";
import { type OwnApi, startOwnApi } from "../../scenario/http/own-api.ts";
import { httpRules } from "../../scenario/http/rules.ts";
import type { Terminal } from "../../terminal.ts";
import { judge, verdictExitCode } from "../../verdict/verdict.ts";
import { resolveDemands } from "../demand-options.ts";
import type { HttpFlags } from "../http.ts";
import { openProfiling } from "../profile-options.ts";
import type { Profiling } from "../../profile/profiling.ts";
import { writeResult } from "../result-options.ts";

export async function http(flags: HttpFlags, terminal: Terminal): Promise<ExitCode> {
  const demands = resolveDemands(flags, "http");
  const plan = planOf(flags);
  const codecs = flags.url === undefined ? null : foreignCodecs(schemaOf(flags));
  const profiling = openProfiling(flags, "http");
  const sink = await openResultSink(terminal, flags.output);
  const observer = createObserver(terminal);
  const runTime = startRunTime();
  try {
    const { figures, rows } = await measure(flags, plan, codecs, terminal.interrupt, observer, profiling);
    observer.end();
    const aborted = terminal.interrupt.aborted;
    const result: HttpResult = {
      schemaVersion: 1,
      command: "http",
      ...runTime(),
      aborted,
      environment: describeEnvironment(),
      settings: settingsOf(flags, plan, rows),
      rules: httpRules(flags.url === undefined, flags.link !== undefined),
      notes: httpNotes(figures),
      url: flags.url === undefined ? null : withoutLogin(flags.url),
      ...figures,
      ...judge(httpMetrics(figures.responses), demands),
    };
    await writeResult(sink, flags, await profiling.addTo(result));
    return endOf(result, terminal);
  } finally {
    observer.end();
    await sink.close();
  }
}

type Codecs = ApiClientOptions["codecs"];

async function measure(
  flags: HttpFlags,
  plan: HttpPlan,
  foreign: Codecs | null,
  interrupt: AbortSignal,
  observer: Observer,
  { record }: Profiling,
): Promise<{ readonly figures: HttpFigures; readonly rows: number }> {
  observer.observe(() => ({ phase: flags.url === undefined ? "starting the API" : "asking the API" }));
  const set = flags.url === undefined ? ownRows(flags) : null;
  const api =
    set === null ? null : await startOwnApi({ suite: set.name, rows: set.rows.length, seed: flags.seed, maxBytes: flags.maxBody });
  const proxy = flags.link === undefined ? null : await openFaultProxy([bandwidth(flags.link)]);
  const url = flags.url ?? `http://127.0.0.1:${api?.port}${rowsPath}`;
  const codecs = foreign ?? Object.fromEntries(bodyFormats((set as DataSet).shape).map(({ format, codec }) => [format, codec]));
  const client = createApiClient({
    url,
    keepAlive: flags.keepAlive,
    concurrency: flags.concurrency,
    through: proxy === null ? null : proxy.connectTo({ host: hostOf(url), port: portOf(url) }),
    maxBytes: flags.maxBody,
    timeoutMs: flags.timeout,
    codecs,
    rows: set?.rows ?? [],
    interrupt,
  });
  try {
    const check = set === null ? null : (ask: Ask, asked: Asked): boolean => isRight(ask, asked, set);
    const figures = await record(() => measureHttp(plan, { client, api, check, interrupt, observer }));
    return { figures, rows: set?.rows.length ?? 0 };
  } catch (error) {
    throw explainHttp(url, error);
  } finally {
    client.close();
    await proxy?.close();
    await (api as OwnApi | null)?.close();
  }
}

/** The number of rows, and the first and the last: comparing all of them would cost more than the request. */
function isRight({ method }: Ask, { rows }: Asked, set: DataSet): boolean {
  if (method === "POST") {
    return areSameValues(rows, [{ received: set.rows.length }]);
  }
  return rows.length === set.rows.length && areSameValues([rows[0], rows.at(-1)], [set.rows[0], set.rows.at(-1)]);
}

function ownRows({ rows, seed, quick }: HttpFlags): DataSet {
  const seeded = seededDataSets[defaults.suite];
  if (seeded === undefined) {
    throw new Error(`there is no suite ${defaults.suite}`);
  }
  return createDataSet(defaults.suite, seeded, rows ?? (quick === true ? defaults.quick.rows : defaults.rows), seed);
}

function planOf(flags: HttpFlags): HttpPlan {
  const { url, requests, duration, concurrency, quick } = flags;
  if (requests !== undefined && duration !== undefined) {
    throw new BenchError("usage", "--requests and --duration exclude each other: a run ends after a number or after a time.");
  }
  if (concurrency > maxConcurrency) {
    throw new BenchError("usage", `--concurrency must not exceed ${maxConcurrency}.`);
  }
  if (url !== undefined && (flags.rows !== undefined || flags.methods?.includes("post") === true)) {
    throw new BenchError("usage", "--rows and --methods post are for the API of this program: nothing is written to yours.");
  }
  if (url === undefined && flags.schema !== undefined) {
    throw new BenchError("usage", "--schema goes with --url: the API of this program has its own.");
  }
  const methods = chosen("methods", flags.methods, ["get", "post"], url === undefined ? ["get", "post"] : ["get"]);
  const known = Object.keys(mediaTypes) as FormatName[];
  const readable = url === undefined || flags.schema !== undefined ? known : known.filter((name) => name !== "avro-headless");
  const formats = chosen("formats", flags.formats, readable, readable);
  const codings = contentCodings.map(({ name }) => name);
  const encodings = chosen("encodings", flags.encodings, codings, codings);
  const asks = methods.flatMap((method) =>
    formats.flatMap((format) => encodings.map((encoding): Ask => ({ method: method === "get" ? "GET" : "POST", format, encoding }))),
  );
  return {
    asks,
    requests: duration === undefined ? (requests ?? (quick === true ? defaults.quick.requests : defaults.requests)) : null,
    durationMs: duration ?? null,
    warmupRequests: defaults.warmupRequests,
    concurrency,
    blocks: defaults.blocks,
    allocationRequests: defaults.allocationRequests,
  };
}

function chosen<T extends string>(
  flag: string,
  wanted: readonly string[] | undefined,
  known: readonly T[],
  standard: readonly T[],
): readonly T[] {
  const unknown = wanted?.find((name) => !(known as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const hint = unknown === "avro-headless" ? " (avro-headless of an API of yours needs --schema FILE)" : "";
    throw new BenchError("usage", `--${flag} ${unknown}: there are ${known.join(", ")}${hint}.`);
  }
  return (wanted as readonly T[] | undefined) ?? standard;
}

function schemaOf({ schema }: HttpFlags): unknown {
  if (schema === undefined) {
    return null;
  }
  try {
    return JSON.parse(readFileSync(schema, "utf8")) as unknown;
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : "it is not JSON";
    throw new BenchError("usage", `cannot read the schema ${schema}: ${reason}.`, { cause });
  }
}

function bandwidth(bitsPerSecond: number): Parameters<typeof openFaultProxy>[0][number] {
  return { kind: "bandwidth", bitsPerSecond, window: { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY } };
}

function hostOf(url: string): string {
  return new URL(url).hostname.replaceAll(/[[\]]/g, "");
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

function settingsOf(flags: HttpFlags, { asks, ...plan }: HttpPlan, rows: number): HttpResult["settings"] {
  const { keepAlive, link = null, seed, maxBody, timeout } = flags;
  const forms = [...new Set(asks.map(({ method, format, encoding }) => `${method} ${format} ${encoding}`))];
  return { ...plan, forms, rows, seed, keepAlive, linkBitsPerSecond: link, maxBodyBytes: maxBody, timeoutMs: timeout };
}

/** By what was measured: a run may end after a time, or by Ctrl-C. */
export function httpNotes({ responses, unanswered }: HttpFigures): readonly string[] {
  const fewest = Math.min(...responses.map(({ request }) => request.count));
  return [
    ...unanswered.map(({ method, format, encoding, reason }) => `${method} ${format}, ${encoding}: ${reason}.`),
    ...(contentCodings.some(({ name }) => name === "zstd") ? [] : ["zstd is left out: Node has it from 22.15 on."]),
    ...(fewest < 100 ? [`With ${formatCount(fewest)} requests p99 is the slowest of them: --requests 1k gives it more.`] : []),
  ];
}

function endOf(result: HttpResult, { stderr }: Terminal): ExitCode {
  if (result.aborted) {
    return exitCodes.interrupted;
  }
  const broken = result.unanswered.find(({ isRefused }) => !isRefused);
  if (broken !== undefined) {
    stderr.write(`cdc-bench: ${broken.method} ${broken.format}, ${broken.encoding}: ${broken.reason}.\n`);
    return exitCodes.decodeErrors;
  }
  if (result.responses.length === 0) {
    stderr.write("cdc-bench: the API offers none of what was asked for: see the notes of the report.\n");
    return exitCodes.tooFewMessages;
  }
  return verdictExitCode(result);
}
