import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { expect, onTestFinished } from "vitest";
import type { RegistryClock } from "./clock.ts";
import { isRegistryError, type RegistryError } from "./errors.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** A real HTTP server on this machine. It answers as the test says, and is closed after the test. */
export interface LocalServer {
  readonly url: string;
  /** The paths that were asked for, in order. */
  readonly paths: readonly string[];
  readonly requests: readonly IncomingMessage[];
  /** Resolves when so many requests have arrived. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function serve(handler: Handler): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response, requests.length);
    for (const { resolve } of waiting.filter(({ count }) => count <= requests.length)) {
      resolve();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get paths() {
      return requests.map((request) => request.url ?? "");
    },
    arrived: (count) => {
      const come = new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return requests.length >= count ? Promise.resolve() : come;
    },
    close,
  };
}

/** Answers as the Confluent API does: each path with its JSON, other paths with 404 and a registry's error code. */
export function answers(byPath: Readonly<Record<string, unknown>>): Handler {
  return (request, response) => {
    const answer = byPath[request.url ?? ""];
    if (answer === undefined) {
      json(response, 404, { error_code: 40403, message: "Schema not found" });
    } else {
      json(response, 200, answer);
    }
  };
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/vnd.schemaregistry.v1+json", ...headers });
  response.end(JSON.stringify(body));
}

/**
 * A clock that the test owns. A pause passes at once and is recorded. A request's deadline, recognised by its length, passes when the test
 * says so.
 */
export class TestClock implements RegistryClock {
  readonly pauses: number[] = [];
  /** Whether pauses pass by themselves. */
  holdsPauses = false;
  readonly #deadlineMs: number;
  readonly #deadlines = new Set<() => void>();
  #nowMs = 1_000;

  constructor(deadlineMs = 10_000) {
    this.#deadlineMs = deadlineMs;
  }

  /** Timers that have neither fired nor been cancelled. */
  get open(): number {
    return this.#deadlines.size;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return Date.UTC(2026, 0, 1) + this.#nowMs;
  }

  after(delayMs: number, run: () => void): () => void {
    if (delayMs !== this.#deadlineMs) {
      this.pauses.push(delayMs);
    }
    if (delayMs === this.#deadlineMs || this.holdsPauses) {
      this.#deadlines.add(run);
      return () => this.#deadlines.delete(run);
    }
    this.#nowMs += delayMs;
    const immediate = setImmediate(run);
    return () => clearImmediate(immediate);
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  /** Lets the deadline of every request under way pass. */
  passDeadlines(): void {
    for (const run of [...this.#deadlines]) {
      this.#deadlines.delete(run);
      run();
    }
  }
}

/** The error that a promise rejects with, which must be one of ours. */
export async function failureOf(promise: Promise<unknown>): Promise<RegistryError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const error = "error" in outcome ? outcome.error : undefined;
  expect(isRegistryError(error), `expected a RegistryError, got ${inspect(outcome)}`).toBe(true);
  return error as RegistryError;
}

/** A record schema with this name, as registries answer it. */
export function recordAnswer(name: string): { readonly schema: string } {
  return { schema: JSON.stringify({ type: "record", name, fields: [{ name: "id", type: "long" }] }) };
}
