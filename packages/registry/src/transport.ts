import type { SchemaId } from "@cdckit/decode";
import { isTextList } from "./confluent-api.ts";
import type { Endpoint } from "./endpoint.ts";
import { isRegistryError, RegistryError } from "./errors.ts";
import { Failover } from "./failover.ts";
import { type HttpAnswer, type Question, sendRequest } from "./http.ts";
import { failureOfStatus } from "./http-status.ts";
import { parseJson, parseText } from "./json.ts";
import type { ResolvedRegistryOptions } from "./options.ts";
import type { Asking } from "./registry-api.ts";
import { withRetry } from "./retry.ts";

/** Asks a question until it is answered or has failed for good: so many at once, each address in turn, and again after a pause. */
export class Transport implements Asking {
  readonly #options: ResolvedRegistryOptions;
  readonly #closed: AbortSignal;
  readonly #failover: Failover;
  /** What failed last, of the schemas that are asked for again after a pause. */
  readonly #failures = new Map<SchemaId, RegistryError>();
  #requests = 0;
  #retries = 0;

  constructor(options: ResolvedRegistryOptions, closed: AbortSignal) {
    this.#options = options;
    this.#closed = closed;
    this.#failover = new Failover(options.endpoints, options);
  }

  get counts(): { readonly requests: number; readonly retries: number } {
    return { requests: this.#requests, retries: this.#retries };
  }

  /** The JSON of the answer. */
  json(question: Question): Promise<unknown> {
    return this.#ask(question, parseJson, "JSON");
  }

  /** The answer as text. */
  text(question: Question): Promise<string> {
    return this.#ask(question, parseText, "text in UTF-8");
  }

  /** The JSON of one request to one address. It waits for no other request, is not repeated, and no other address is asked. */
  jsonOnce(endpoint: Endpoint, question: Question): Promise<unknown> {
    return this.#askOnce(endpoint, question, parseJson, "JSON");
  }

  /** Why the last request for this schema failed, while a pause before the next one lasts, or that one is under way. */
  lastFailure(id: SchemaId): RegistryError | undefined {
    return this.#failures.get(id);
  }

  async #ask<T>(question: Question, parse: (body: Uint8Array) => T, format: string): Promise<T> {
    const { id } = question;
    const { retry, clock, random } = this.#options;
    let paused: RegistryError | undefined;
    const tools = {
      clock,
      random,
      closed: this.#closed,
      onPause: (error: RegistryError) => {
        paused = error;
        this.#failed(id, error);
      },
      onRetry: () => this.#retries++,
    };
    const send = (endpoint: Endpoint): Promise<T> => this.#askOnce(endpoint, question, parse, format);
    try {
      return await withRetry(retry, tools, () => this.#failover.ask(send, this.#closed));
    } finally {
      // Apicurio's API answers one schema by several questions, and another one of them may still pause.
      if (id !== undefined && this.#failures.get(id) === paused) {
        this.#failures.delete(id);
      }
    }
  }

  #failed(id: SchemaId | undefined, error: RegistryError): void {
    if (id !== undefined) {
      this.#failures.set(id, error);
    }
  }

  async #askOnce<T>(endpoint: Endpoint, question: Question, parse: (body: Uint8Array) => T, format: string): Promise<T> {
    const answer = await this.#send(endpoint, question);
    const failure = failureOfStatus(answer, endpoint, question);
    if (failure !== undefined) {
      throw (await this.#isWithoutPath(failure, endpoint, question)) ? pathMissing(failure, question) : failure;
    }
    try {
      return parse(answer.body);
    } catch (cause) {
      // A proxy's page, an empty body or a cut one is an outage: the registry itself has not answered.
      const detail = `${endpoint.url} answered ${question.what} with a body that is not ${format}: is url the root of a schema registry`;
      throw new RegistryError("unavailable", detail, {
        url: endpoint.url,
        id: question.id,
        status: answer.status,
        cause,
        isRegistry: false,
      });
    }
  }

  async #isWithoutPath(failure: RegistryError, endpoint: Endpoint, { provenBy = [] }: Question): Promise<boolean> {
    if (failure.status !== 404 || failure.code !== "unavailable") {
      return false;
    }
    for (const proof of provenBy) {
      if (isTextList(await this.jsonOnce(endpoint, proof).catch(nullOnFailure))) {
        return true;
      }
    }
    return false;
  }

  #send(endpoint: Endpoint, question: Question): Promise<HttpAnswer> {
    this.#closed.throwIfAborted();
    this.#requests++;
    return sendRequest(endpoint, question, this.#options, this.#closed);
  }
}

function nullOnFailure(error: unknown): null {
  if (isRegistryError(error)) {
    return null;
  }
  throw error;
}

function pathMissing({ url, id, status }: RegistryError, { what }: Question): RegistryError {
  const detail = `${url} does not have ${what} (${status}): it is a registry, but is without the path for such ids`;
  return new RegistryError("not-found", detail, { url, id, status });
}
