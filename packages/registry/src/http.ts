import type { RegistryClock } from "./clock.ts";
import { withDeadline } from "./deadline.ts";
import type { Endpoint } from "./endpoint.ts";
import { isRegistryError, RegistryError } from "./errors.ts";
import { readRetryAfterMs } from "./retry-after.ts";
import { errorChain, systemCode } from "./system-code.ts";

/** What a request may cost, and whose time and network it uses. */
export interface HttpLimits {
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly userAgent: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: RegistryClock;
}

/** What the registry is asked. */
export interface Question {
  /** Below the registry's root, its parts percent-encoded. */
  readonly path: string;
  /** What it asks for, as a sentence names it: "schema id 7". */
  readonly what: string;
  readonly id?: number | string;
  /** What to do where the registry does not have it. */
  readonly missingHint?: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** The whole body of a success; what stands for an error is cut where it grows beyond all sense. */
  readonly body: Uint8Array;
  readonly retryAfterMs: number | undefined;
}

// An error is `{error_code, message}`; whatever is longer comes from a proxy and tells us nothing.
const maxErrorBodyBytes = 16_384;

/**
 * One request, bounded in time and in bytes, to one address; a redirect is refused and never followed. Resolves with the answer whatever
 * its status, and rejects with a {@link RegistryError} where there is none that can be used.
 */
export async function sendRequest(endpoint: Endpoint, question: Question, limits: HttpLimits, closed: AbortSignal): Promise<HttpAnswer> {
  const { clock, timeoutMs } = limits;
  const onTimeout = (): Error => {
    const detail = `${endpoint.url} did not answer ${question.what} within ${timeoutMs} ms: is it overloaded, or timeoutMs too short`;
    return new RegistryError("unavailable", detail, { url: endpoint.url, id: question.id });
  };
  try {
    return await withDeadline({ clock, timeoutMs, closed, onTimeout }, (signal) => exchange(endpoint, question, limits, signal));
  } catch (error) {
    throw isRegistryError(error) ? error : failureOfFetch(error, endpoint, question);
  }
}

async function exchange(endpoint: Endpoint, question: Question, limits: HttpLimits, signal: AbortSignal): Promise<HttpAnswer> {
  const headers = {
    accept: "application/vnd.schemaregistry.v1+json, application/json",
    "user-agent": limits.userAgent,
    ...(await endpoint.requestHeaders()),
  };
  signal.throwIfAborted();
  const response = await limits.fetch(endpoint.url + question.path, { headers, redirect: "error", signal });
  const retryAfterMs = readRetryAfterMs(response.headers, limits.clock.wallMs());
  if (!response.ok) {
    return { status: response.status, body: (await readBody(response, maxErrorBodyBytes)).bytes, retryAfterMs };
  }
  const body = await readBody(response, limits.maxBodyBytes);
  if (!body.complete) {
    const detail = `${endpoint.url} answered ${question.what} with more than ${limits.maxBodyBytes} bytes (maxBodyBytes): is this a schema registry`;
    throw new RegistryError("refused", detail, { url: endpoint.url, id: question.id, status: response.status });
  }
  return { status: response.status, body: body.bytes, retryAfterMs };
}

/** Reads until the end or the bound, and hangs up there: nothing beyond the bound is ever held. Counts what was decompressed. */
async function readBody(response: Response, maxBytes: number): Promise<{ bytes: Uint8Array; complete: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > maxBytes) {
      return { bytes: Buffer.concat(chunks), complete: false };
    }
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks), complete: true };
}

function failureOfFetch(error: unknown, endpoint: Endpoint, question: Question): RegistryError {
  const about = { url: endpoint.url, id: question.id, cause: endpoint.safeCause(error) };
  if (isRedirect(error)) {
    const detail = `${endpoint.url} redirected ${question.what}, which is never followed because credentials would go along: set url to where it leads`;
    return new RegistryError("refused", detail, about);
  }
  if (errorChain(error).some((link) => link.message === "bad port")) {
    const detail = `${endpoint.url} has a port that fetch does not open (it is another protocol's): let the registry listen on another one`;
    return new RegistryError("refused", detail, about);
  }
  const code = systemCode(error);
  return new RegistryError("unavailable", `${endpoint.url} could not be asked for ${question.what} (${code}): ${adviceFor(code)}`, about);
}

// fetch has no code for this. Its message is pinned by a test with a real redirect.
function isRedirect(error: unknown): boolean {
  return errorChain(error).some((link) => /\bredirect\b/.test(link.message));
}

function adviceFor(code: string): string {
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return "is the host name right, and can this machine resolve it";
  }
  if (code.includes("CERT") || code.includes("SIGNATURE") || code.startsWith("ERR_TLS")) {
    return "its certificate is not trusted: name the authority in NODE_EXTRA_CA_CERTS";
  }
  return "is it running, and are host and port right";
}
