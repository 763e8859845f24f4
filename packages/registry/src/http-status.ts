import type { Endpoint } from "./endpoint.ts";
import { RegistryError } from "./errors.ts";
import type { HttpAnswer, Question } from "./http.ts";
import { parseJson } from "./json.ts";

/**
 * What a status other than success means: whether to ask again, and what the reader can do. Only a registry can say that it does not have
 * something, and its answer then has an error code, or the name of its exception. The same status from a proxy, an ingress or a server that
 * is still starting is an outage. If it counted as "no such schema", records would become dead letters while the registry restarts.
 */
export function failureOfStatus(answer: HttpAnswer, endpoint: Endpoint, question: Question): RegistryError | undefined {
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status <= 299) {
    return undefined;
  }
  const { url } = endpoint;
  const about = { url, status, id: question.id, retryAfterMs };
  const own = readErrorCode(answer.body);
  const statusText = own === undefined ? `${status}` : `${status}, ${own.text}`;
  if (status === 404 && own?.isAboutContent === true) {
    const advice = question.missingHint ?? "is this the registry that the producer wrote to";
    return new RegistryError("not-found", `${url} does not have ${question.what} (${statusText}): ${advice}`, about);
  }
  const { credentialFunction } = endpoint;
  if (status === 401 && credentialFunction !== null) {
    // The function may give others a moment later: a rotation reaches the registry and whoever keeps the secret at two times.
    const detail = `${url} refused the credentials that the function ${credentialFunction} gave, when it was asked for ${question.what} (${statusText}): if they were replaced, it must give the new ones`;
    return new RegistryError("unavailable", detail, about);
  }
  if (isTransient(status)) {
    return new RegistryError("unavailable", `${url} could not answer ${question.what} (${statusText}): ask again later`, about);
  }
  if (status !== 401 && status !== 403 && (own === undefined || status === 404) && question.isOptional !== true) {
    const advice =
      "is url the root of its API (Apicurio: /apis/ccompat/v7 or /apis/registry/v3), and does a proxy in front of it answer instead";
    const detail = `${url} did not answer ${question.what} as a schema registry does (${statusText}): ${advice}`;
    return new RegistryError("unavailable", detail, { ...about, isRegistry: false });
  }
  return new RegistryError(
    "refused",
    `${url} refused to answer ${question.what} (${statusText}): ${adviceWhenRefused(status, url)}`,
    about,
  );
}

/** Whether the same request can succeed a moment later. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function adviceWhenRefused(status: number, url: string): string {
  if (status === 401) {
    return "the credentials are missing or wrong: check auth, which may be a function if they are replaced while the process runs";
  }
  if (status === 403) {
    return "these credentials may not read it: ask for read access, or check auth";
  }
  if (status === 400 && /\/apis\/ccompat\/v\d+$/.test(url)) {
    // Seen with Apicurio 3.0.9: "Failed to discover artifact type from content".
    return 'Apicurio refuses some of its own schemas there, such as one with a column default of "{}": set url to its own API, which ends in /apis/registry/v3';
  }
  return "is url the root of a Confluent-compatible schema registry";
}

/** Whether an error code says that a schema, subject or version is not there: Confluent's codes for that are 404nn. */
export function isContentCode(code: unknown): boolean {
  return typeof code === "number" && code >= 40_400 && code <= 40_499;
}

interface OwnErrorCode {
  /** The form that messages show. */
  readonly text: string;
  /** It is about a schema, subject, version or artifact. A code that only repeats the status is about the path. */
  readonly isAboutContent: boolean;
}

/** Only a number, or the name of a class, is taken from an error. Its text is the server's, and may quote what we sent. */
function readErrorCode(body: Uint8Array): OwnErrorCode | undefined {
  try {
    const { error_code: code, name } = parseJson(body) as { error_code?: unknown; name?: unknown };
    const exception = typeof name === "string" && /^[A-Za-z]{1,60}Exception$/.test(name) ? name : undefined;
    const text = typeof code === "number" ? `error_code ${code}` : exception;
    // Apicurio repeats the status and names its exception; a plain NotFoundException is about the path.
    const isAboutContent = isContentCode(code) || (exception !== undefined && /^[A-Za-z]+NotFoundException$/.test(exception));
    return text === undefined ? undefined : { text, isAboutContent };
  } catch {
    return undefined; // a proxy's page, or no body: only the status is known
  }
}
