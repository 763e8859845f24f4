import type { RegistryClock } from "./clock.ts";
import { withDeadline } from "./deadline.ts";
import type { Endpoint } from "./endpoint.ts";
import { isRegistryError, RegistryError } from "./errors.ts";
import { readRetryAfterMs } from "./retry-after.ts";
import { errorChain, systemCode } from "./system-code.ts";

/** The limits of a request, and the clock and network that it uses. */
export interface HttpLimits {
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly userAgent: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: RegistryClock;
}

/** A question to the registry. */
export interface Question {
  /** The path below the registry's root, its parts percent-encoded. */
  readonly path: string;
  /** The name of what it asks for, for messages: "schema id 7". */
  readonly what: string;
  readonly id?: number | string;
  /** What to do if the registry does not have it. */
  readonly missingHint?: string;
  /** Not every registry answers it. A status that says so is an answer then, whoever sent it, and no outage. */
  readonly isOptional?: boolean;
  /** A registry may be without its path. If it answers one of these with a list of names, its 404 says so, and is no outage. */
  readonly provenBy?: readonly Question[];
}

export interface HttpAnswer {
  readonly status: number;
  /** The whole body of a success. The body of an error is cut at a limit. */
  readonly body: Uint8Array;
  readonly retryAfterMs: number | undefined;
}

// A registry's error is `{error_code, message}`. A longer body comes from a proxy, and says nothing that we use.
const maxErrorBodyBytes = 16_384;

/**
 * One request to one address, bounded in time and in bytes. A redirect is never followed. Resolves with the answer, whatever its
 * status. Rejects with a {@link RegistryError} if there is no answer that can be used.
 */
export async function sendRequest(endpoint: Endpoint, question: Question, limits: HttpLimits, closed: AbortSignal): Promise<HttpAnswer> {
  const { clock, timeoutMs } = limits;
  let isAsked = false;
  const onTimeout = (): Error => {
    const { url, credentialFunction } = endpoint;
    const detail = isAsked
      ? `${url} did not answer ${question.what} within ${timeoutMs} ms: is it overloaded, or is timeoutMs too short`
      : `${credentialFunction} gave nothing within ${timeoutMs} ms, before ${url} could be asked for ${question.what}`;
    return new RegistryError("unavailable", detail, { url, id: question.id });
  };
  try {
    return await withDeadline({ clock, timeoutMs, closed, onTimeout }, async (signal) => {
      const headers = await endpoint.requestHeaders();
      isAsked = true;
      return exchange(endpoint, question, limits, { headers, signal });
    });
  } catch (error) {
    throw isRegistryError(error) ? error : failureOfFetch(error, endpoint, question);
  }
}

async function exchange(
  endpoint: Endpoint,
  question: Question,
  limits: HttpLimits,
  { headers: own, signal }: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<HttpAnswer> {
  const headers = { accept: "application/vnd.schemaregistry.v1+json, application/json", "user-agent": limits.userAgent, ...own };
  signal.throwIfAborted();
  const response = await limits.fetch(endpoint.url + question.path, { headers, redirect: "error", signal });
  const retryAfterMs = readRetryAfterMs(response.headers, limits.clock.wallMs());
  if (!response.ok) {
    return { status: response.status, body: (await readBody(response, maxErrorBodyBytes)).bytes, retryAfterMs };
  }
  const body = await readBody(response, limits.maxBodyBytes);
  if (!body.complete) {
    const detail = `${endpoint.url} answered ${question.what} with more than ${limits.maxBodyBytes} bytes (maxBodyBytes): is this a schema registry, and if its schemas are so large, raise maxBodyBytes`;
    throw new RegistryError("refused", detail, { url: endpoint.url, id: question.id, status: response.status });
  }
  return { status: response.status, body: body.bytes, retryAfterMs };
}

/** Reads until the end or until the limit, and closes the connection there. Counts decompressed bytes, so that memory is bounded. */
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
    const detail = `${endpoint.url} redirected ${question.what}. Redirects are not followed, because credentials would be sent along: set url to the address that it leads to`;
    // Who redirects is no registry, as whoever answers with a page: a proxy that wants a login, or one that is being moved.
    return new RegistryError("unavailable", detail, { ...about, isRegistry: false });
  }
  if (errorChain(error).some((link) => link.message === "bad port")) {
    const detail = `${endpoint.url} has a port that fetch does not open, because another protocol uses it: let the registry listen on another port`;
    return new RegistryError("refused", detail, about);
  }
  const innermost: { readonly message: string; readonly code?: unknown } | undefined = errorChain(error).at(-1);
  if (innermost?.message === "" && innermost.code === undefined) {
    // fetch keeps a 407 to itself: its error has neither a code nor a message.
    const detail = `${endpoint.url} could not be asked for ${question.what}, and fetch gives no reason: a proxy that wants credentials (407) looks like this`;
    return new RegistryError("unavailable", detail, about);
  }
  const code = systemCode(error);
  return new RegistryError(
    "unavailable",
    `${endpoint.url} could not be asked for ${question.what} (${code}): ${adviceFor(code, endpoint.url.startsWith("https:"))}`,
    about,
  );
}

// fetch has no code for this. A test with a real redirect checks its message.
function isRedirect(error: unknown): boolean {
  return errorChain(error).some((link) => /\bredirect\b/.test(link.message));
}

function adviceFor(code: string, isTls: boolean): string {
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return "is the host name right, and can this machine resolve it";
  }
  if (/ALERT_.*CERTIFICATE|CERTIFICATE_REQUIRED/.test(code)) {
    return "it wants a certificate of the client, or refuses the one that was shown: the option `fetch` takes a function that shows one";
  }
  if (/ALERT_HANDSHAKE_FAILURE/.test(code)) {
    return "it refused the TLS handshake: does it want a certificate of the client, which a function in the option `fetch` can show";
  }
  if (code.startsWith("ERR_OSSL_")) {
    return "the certificate or the key that `fetch` shows cannot be used: are both PEM, and do they belong together";
  }
  if (code === "CERT_HAS_EXPIRED") {
    return "its certificate has expired: it must be renewed, or the clock here is wrong";
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "its certificate is for another name: give url a name that the certificate holds";
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG") {
    return "it does not speak TLS: does its url begin with http://";
  }
  if (code.startsWith("Z_") || code.startsWith("ERR_BROTLI") || code.startsWith("ERR__ERROR")) {
    return "its answer is not compressed as its content-encoding says: does a proxy in front of it change answers";
  }
  if (code === "UND_ERR_SOCKET") {
    const wanted = isTls ? "a certificate of the client that has not expired (the option `fetch`)" : "https";
    return `it ended the connection: is it running, are host and port right, and does it want ${wanted}`;
  }
  if (code.includes("CERT") || code.includes("SIGNATURE") || code.startsWith("ERR_TLS")) {
    return "its certificate is not trusted: name the authority in NODE_EXTRA_CA_CERTS";
  }
  return "is it running, and are host and port right";
}
