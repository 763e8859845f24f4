import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Row } from "../../codec/data-sets.ts";
import { int32, record, type RecordShape } from "../../codec/shape.ts";
import { type BodyFormat, bodyFormats } from "./body-formats.ts";
import { contentCoding, contentCodings, InflateError } from "./content-codings.ts";
import { chooseEncoding, chooseMediaType, essenceOf } from "./negotiate.ts";

export interface ApiOptions {
  readonly shape: RecordShape;
  /** What GET answers. */
  readonly rows: readonly Row[];
  /** Largest body that POST takes, in bytes as they are sent. */
  readonly maxBodyBytes: number;
  /** Largest body when it is decompressed. */
  readonly maxDecodedBytes: number;
}

/** Where the rows are. */
export const rowsPath = "/rows";
const allow = "GET, HEAD, POST, OPTIONS";

/** What POST answers: how many rows it was sent. */
const receiptShape = record("Receipt", { received: int32 });

/** An API that answers and takes rows in JSON or Avro, compressed or not, as both sides agree. Rows that it is sent it counts, and forgets. */
export function createApiServer(options: ApiOptions): Server {
  const [formats, receipts] = [bodyFormats(options.shape), bodyFormats(receiptShape)];
  return createServer((request, response) => {
    answer(request, response, { options, formats, receipts }).catch((error: unknown) => {
      const refusal = error instanceof Refusal ? error : new Refusal(500, "the server failed");
      refuse(request, response, refusal);
    });
  });
}

interface Api {
  readonly options: ApiOptions;
  readonly formats: readonly BodyFormat[];
  readonly receipts: readonly BodyFormat[];
}

/** An answer without what was asked for. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, { options, formats, receipts }: Api): Promise<void> {
  if (request.method === "OPTIONS") {
    response.writeHead(204, { allow, "accept-post": formats.map(({ mediaType }) => mediaType).join(", ") }).end();
    return;
  }
  if (request.url?.split("?")[0] !== rowsPath) {
    throw new Refusal(404, `there is only ${rowsPath}`);
  }
  switch (request.method) {
    case "GET":
    case "HEAD":
      return send(request, response, formats, options.rows);
    case "POST": {
      const { rows, timing } = await receivedRows(request, options, formats);
      return send(request, response, receipts, [{ received: rows.length }], timing);
    }
    default:
      throw new Refusal(405, `it takes ${allow}`, { allow });
  }
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  formats: readonly BodyFormat[],
  rows: readonly Row[],
  timing = "",
): Promise<void> {
  const mediaType = chooseMediaType(
    request.headers.accept,
    formats.map((each) => each.mediaType),
  );
  const codings = contentCodings.map(({ name }) => name).filter((name) => name !== "identity");
  const codingName = chooseEncoding(request.headers["accept-encoding"]?.toString(), codings);
  const format = formats.find((each) => each.mediaType === mediaType);
  const coding = contentCoding(codingName ?? "");
  if (format === undefined || coding === undefined) {
    const offered = [...formats.map((each) => each.mediaType), ...codings].join(", ");
    throw new Refusal(406, `it answers with ${offered}`);
  }
  const startMs = performance.now();
  const plain = await format.codec.serialize(rows);
  const encodedMs = performance.now();
  const body = await coding.encode(plain);
  const endMs = performance.now();
  response.writeHead(200, {
    "content-type": format.mediaType,
    "content-length": body.byteLength,
    vary: "Accept, Accept-Encoding",
    "server-timing": `${timing}encode;dur=${(encodedMs - startMs).toFixed(3)}, compress;dur=${(endMs - encodedMs).toFixed(3)}`,
    ...(coding.name === "identity" ? {} : { "content-encoding": coding.name }),
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

interface Received {
  readonly rows: readonly Row[];
  /** For `Server-Timing`: decompressing and decoding. */
  readonly timing: string;
}

async function receivedRows(request: IncomingMessage, options: ApiOptions, formats: readonly BodyFormat[]): Promise<Received> {
  const format = formats.find(({ mediaType }) => mediaType === essenceOf(request.headers["content-type"]));
  if (format === undefined) {
    const accepted = formats.map(({ mediaType }) => mediaType).join(", ");
    throw new Refusal(415, `it takes ${accepted}`, { "accept-post": accepted });
  }
  const coding = contentCoding((request.headers["content-encoding"] ?? "identity").trim().toLowerCase());
  if (coding === undefined) {
    const accepted = contentCodings.map(({ name }) => name).join(", ");
    throw new Refusal(415, `it takes ${accepted}`, { "accept-encoding": accepted });
  }
  const sent = await readBody(request, options.maxBodyBytes);
  const startMs = performance.now();
  try {
    const rows: unknown = await format.codec.deserialize(await coding.decode(sent, options.maxDecodedBytes));
    if (!Array.isArray(rows)) {
      throw new TypeError("it is no list of rows");
    }
    return { rows: rows as readonly Row[], timing: `decode;dur=${(performance.now() - startMs).toFixed(3)}, ` };
  } catch (error) {
    if (error instanceof InflateError && error.isTooLarge) {
      throw new Refusal(413, `at most ${options.maxDecodedBytes} bytes when decompressed`);
    }
    throw new Refusal(400, `the body is no list of rows as ${format.mediaType}, or is cut`);
  }
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = new Refusal(413, `at most ${maxBytes} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
    throw tooLarge;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      throw tooLarge;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** What the client still sends is not read: the connection ends with the answer. */
function refuse(request: IncomingMessage, response: ServerResponse, { status, message, headers }: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const isUnread = !request.complete && request.method === "POST";
  response.writeHead(status, { ...headers, "content-type": "text/plain", ...(isUnread ? { connection: "close" } : {}) });
  response.end(request.method === "HEAD" ? undefined : `${message}\n`);
}
