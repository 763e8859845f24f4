import { Agent as HttpAgent, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Codec } from "../../codec/codec.ts";
import type { Row } from "../../codec/data-sets.ts";
import { mediaTypes, type FormatName } from "./body-formats.ts";
import { contentCoding, InflateError } from "./content-codings.ts";
import { essenceOf } from "./negotiate.ts";

/** One form of request. */
export interface Ask {
  readonly method: "GET" | "POST";
  readonly format: FormatName;
  readonly encoding: string;
}

/** What one request took, in milliseconds from its start or of its part. */
export interface AskTimes {
  readonly totalMs: number;
  /** POST: writing and compressing the body. */
  readonly prepareMs: number;
  /** Until the first byte of the answer. */
  readonly waitMs: number;
  readonly transferMs: number;
  readonly decompressMs: number;
  readonly decodeMs: number;
  /** What the server says of itself (`Server-Timing`); null if it says nothing. */
  readonly serverMs: number | null;
}

export interface Asked extends AskTimes {
  readonly sentBytes: number;
  /** Before compression. */
  readonly plainBytes: number;
  readonly rows: readonly Row[];
}

/** Why a request has no figures. `isRefused`: the API does not offer it; otherwise what it answered is broken. */
export class AskError extends Error {
  override readonly name = "AskError";
  readonly isRefused: boolean;

  constructor(isRefused: boolean, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.isRefused = isRefused;
  }
}

export interface ApiClientOptions {
  readonly url: string;
  readonly keepAlive: boolean;
  readonly concurrency: number;
  /** Where connections go in place of the address, if a link is in between. */
  readonly through: { readonly host: string; readonly port: number } | null;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly codecs: Readonly<Partial<Record<FormatName, Codec<readonly Row[]>>>>;
  /** What POST sends. */
  readonly rows: readonly Row[];
  readonly interrupt: AbortSignal;
}

export interface ApiClient {
  ask(ask: Ask): Promise<Asked>;
  close(): void;
}

export function createApiClient(options: ApiClientOptions): ApiClient {
  const url = new URL(options.url);
  const agentOptions = { keepAlive: options.keepAlive, maxSockets: options.concurrency };
  const agent = url.protocol === "https:" ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  return { ask: (ask) => askOnce(ask, url, agent, options), close: () => agent.destroy() };
}

async function askOnce(ask: Ask, url: URL, agent: HttpAgent, options: ApiClientOptions): Promise<Asked> {
  const codec = options.codecs[ask.format];
  const coding = contentCoding(ask.encoding);
  if (codec === undefined || coding === undefined) {
    throw new AskError(true, `there is no ${ask.format} with ${ask.encoding} here`);
  }
  const startMs = performance.now();
  const plainBody = ask.method === "POST" ? await codec.serialize(options.rows) : null;
  const body = plainBody === null ? null : await coding.encode(plainBody);
  const preparedMs = performance.now();
  const response = await requestOf(ask, url, agent, body, options);
  const headersMs = performance.now();
  const sent = await readAll(response, options.maxBytes);
  const receivedMs = performance.now();
  checkAnswer(ask, response, sent);
  const plain = await inflate(response, sent, options.maxBytes);
  const inflatedMs = performance.now();
  const rows = await decode(ask, codec, plain, sent);
  const endMs = performance.now();
  return {
    totalMs: endMs - startMs,
    prepareMs: preparedMs - startMs,
    waitMs: headersMs - preparedMs,
    transferMs: receivedMs - headersMs,
    decompressMs: inflatedMs - receivedMs,
    decodeMs: endMs - inflatedMs,
    serverMs: serverTime(response.headers["server-timing"]),
    sentBytes: body?.byteLength ?? sent.byteLength,
    plainBytes: plainBody?.byteLength ?? plain.byteLength,
    rows,
  };
}

function requestOf(ask: Ask, url: URL, agent: HttpAgent, body: Uint8Array | null, options: ApiClientOptions): Promise<IncomingMessage> {
  const { through, timeoutMs, interrupt } = options;
  const mediaType = mediaTypes[ask.format];
  const settings: RequestOptions & { readonly servername?: string } = {
    method: ask.method,
    agent,
    signal: interrupt,
    timeout: timeoutMs,
    headers: {
      host: url.host,
      // A receipt is small: JSON, whatever was sent.
      accept: ask.method === "POST" ? mediaTypes.json : mediaType,
      "accept-encoding": ask.method === "POST" ? "identity" : ask.encoding,
      ...(body !== null && { "content-type": mediaType, "content-length": body.byteLength }),
      ...(body !== null && ask.encoding !== "identity" && { "content-encoding": ask.encoding }),
    },
    ...(through !== null && { host: through.host, port: through.port }),
    ...(url.protocol === "https:" && { servername: url.hostname }),
    ...(url.username !== "" && { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` }),
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, settings, resolve);
    request.once("timeout", () => request.destroy(new AskError(false, `nothing came for ${timeoutMs / 1e3} s`)));
    request.once("error", reject);
    request.end(body ?? undefined);
  });
}

async function readAll(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) {
        throw new AskError(false, `its answer is larger than ${maxBytes} bytes (--max-body)`);
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof AskError ? error : new AskError(false, "its answer ended early", { cause: error });
  }
  return Buffer.concat(chunks, bytes);
}

function checkAnswer(ask: Ask, { statusCode = 0, headers }: IncomingMessage, body: Uint8Array): void {
  if (statusCode === 406 || statusCode === 415) {
    throw new AskError(true, `it answers ${statusCode}: it does not offer that`);
  }
  if (statusCode !== 200) {
    throw new AskError(false, `it answers ${statusCode}`);
  }
  if (ask.method === "POST") {
    return;
  }
  const [wanted, found] = [mediaTypes[ask.format], essenceOf(headers["content-type"])];
  if (found !== wanted) {
    throw new AskError(true, `asked for ${wanted}, it answers with ${found === "" ? "no content type" : found}`);
  }
  const coding = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (coding !== ask.encoding) {
    throw new AskError(true, `asked for ${ask.encoding}, it answers with ${coding}`);
  }
  if (body.byteLength === 0) {
    throw new AskError(false, "its answer is empty");
  }
}

async function inflate(response: IncomingMessage, sent: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const coding = contentCoding((response.headers["content-encoding"] ?? "identity").trim().toLowerCase());
  if (coding === undefined) {
    throw new AskError(true, `it answers with ${String(response.headers["content-encoding"])}`);
  }
  try {
    return await coding.decode(sent, maxBytes);
  } catch (error) {
    const isTooLarge = error instanceof InflateError && error.isTooLarge;
    const what = isTooLarge
      ? `its answer is larger than ${maxBytes} bytes when decompressed (--max-body)`
      : "its compression is broken or cut";
    throw new AskError(false, what, { cause: error });
  }
}

async function decode(ask: Ask, codec: Codec<readonly Row[]>, plain: Uint8Array, sent: Uint8Array): Promise<readonly Row[]> {
  try {
    if (ask.method === "POST") {
      return [JSON.parse(Buffer.from(sent).toString()) as Row].flat();
    }
    return await codec.deserialize(plain);
  } catch (error) {
    throw new AskError(false, `its answer cannot be read as ${mediaTypes[ask.format]}`, { cause: error });
  }
}

/** The sum of what `Server-Timing` names, in milliseconds. */
function serverTime(header: string | readonly string[] | undefined): number | null {
  const durations = [...String(header ?? "").matchAll(/;\s*dur=(\d+(?:\.\d+)?)/g)].map(([, ms]) => Number(ms));
  return durations.length === 0 ? null : durations.reduce((sum, ms) => sum + ms, 0);
}
