import type { IncomingMessage, ServerResponse } from "node:http";

const maxBodyBytes = 64 * 1024;

/** An answer that is no success, as a sentence for the page's user. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  /** The field of a form that is wrong. */
  readonly field: string | null;

  constructor(status: number, message: string, field: string | null = null) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

/** What every answer says to the browser: nothing from elsewhere, no frames of others, no guesses, no copies on disk. */
export const commonHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  answer(response, status, "application/json; charset=utf-8", JSON.stringify(value));
}

export function answer(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": type, ...headers });
  response.end(response.req.method === "HEAD" ? undefined : body);
}

/** The JSON object in the body. @throws HttpError if it is none, or too large */
export async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBodyBytes) {
      throw new HttpError(413, `The body must not exceed ${maxBodyBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>;
    }
  } catch {
    // said below
  }
  throw new HttpError(400, "The body must be a JSON object.");
}
