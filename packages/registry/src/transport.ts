import type { Endpoint } from "./endpoint.ts";
import { RegistryError } from "./errors.ts";
import { Failover } from "./failover.ts";
import { Gate } from "./gate.ts";
import { type HttpAnswer, type Question, sendRequest } from "./http.ts";
import { failureOfStatus } from "./http-status.ts";
import { parseJson } from "./json.ts";
import type { ResolvedRegistryOptions } from "./options.ts";
import { withRetry } from "./retry.ts";

/** Asks a question until there is an answer or no hope: so many at once, each address in turn, again after a pause. */
export class Transport {
  readonly #options: ResolvedRegistryOptions;
  readonly #closed: AbortSignal;
  readonly #gate: Gate;
  readonly #failover: Failover;
  #requests = 0;
  #retries = 0;

  constructor(options: ResolvedRegistryOptions, closed: AbortSignal) {
    this.#options = options;
    this.#closed = closed;
    this.#gate = new Gate(options.concurrency);
    this.#failover = new Failover(options.endpoints);
  }

  get counts(): { readonly requests: number; readonly retries: number } {
    return { requests: this.#requests, retries: this.#retries };
  }

  /** The JSON of the answer. */
  ask(question: Question): Promise<unknown> {
    const { retry, clock, random } = this.#options;
    const tools = { clock, random, closed: this.#closed, onRetry: () => this.#retries++ };
    return withRetry(retry, tools, () => this.#failover.ask((endpoint) => this.askOnce(endpoint, question), this.#closed));
  }

  /** One request to one address, neither repeated nor passed on. */
  async askOnce(endpoint: Endpoint, question: Question): Promise<unknown> {
    const answer = await this.#gate.run(() => this.#send(endpoint, question));
    const failure = failureOfStatus(answer, endpoint, question);
    if (failure !== undefined) {
      throw failure;
    }
    try {
      return parseJson(answer.body);
    } catch (cause) {
      const detail = `${endpoint.url} answered ${question.what} with something else than JSON: is url the root of a schema registry`;
      throw new RegistryError("refused", detail, { url: endpoint.url, id: question.id, status: answer.status, cause });
    }
  }

  #send(endpoint: Endpoint, question: Question): Promise<HttpAnswer> {
    this.#closed.throwIfAborted();
    this.#requests++;
    return sendRequest(endpoint, question, this.#options, this.#closed);
  }
}
