import type { Endpoint } from "./endpoint.ts";
import { RegistryError } from "./errors.ts";
import type { HttpAnswer, Question } from "./http.ts";
import { parseJson } from "./json.ts";

/** What a status says, where it is not success: whether to ask again, and what the reader can do. */
export function failureOfStatus(answer: HttpAnswer, endpoint: Endpoint, question: Question): RegistryError | undefined {
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status <= 299) {
    return undefined;
  }
  const { url } = endpoint;
  const about = { url, status, id: question.id, retryAfterMs };
  const errorCode = readErrorCode(answer.body);
  const told = errorCode === undefined ? `${status}` : `${status}, ${errorCode}`;
  if (status === 404) {
    return new RegistryError("not-found", `${url} does not have ${question.what} (${told}): ${adviceWhenMissing(errorCode, question)}`, {
      ...about,
      isCertain: errorCode !== undefined,
    });
  }
  if (isTransient(status)) {
    return new RegistryError("unavailable", `${url} could not answer ${question.what} (${told}): ask again later`, about);
  }
  return new RegistryError("refused", `${url} refused to answer ${question.what} (${told}): ${adviceWhenRefused(status)}`, about);
}

/** Whether the same request can be answered well a moment later. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function adviceWhenMissing(errorCode: string | undefined, question: Question): string {
  if (errorCode === undefined) {
    return "it did not answer as a schema registry does, so is url the root of its API (Apicurio: /apis/ccompat/v7 or /apis/registry/v3)";
  }
  return question.missingHint ?? "is this the registry that the producer wrote to";
}

function adviceWhenRefused(status: number): string {
  if (status === 401) {
    return "the credentials are missing or wrong, check auth";
  }
  if (status === 403) {
    return "these credentials may not read it, ask for read access or check auth";
  }
  return "is url the root of a Confluent-compatible schema registry";
}

/** Only a number or the name of a class is taken from an error: its text is the server's, and may quote what we sent. */
function readErrorCode(body: Uint8Array): string | undefined {
  try {
    const { error_code: code, name } = parseJson(body) as { error_code?: unknown; name?: unknown };
    if (typeof code === "number") {
      return `error_code ${code}`;
    }
    return typeof name === "string" && /^[A-Za-z]{1,60}Exception$/.test(name) ? name : undefined;
  } catch {
    return undefined; // a proxy's page, or nothing: the status has to do
  }
}
