import { setTimeout as pass } from "node:timers/promises";
import { BenchError } from "../bench-error.ts";

/** Where Kafka Connect's REST API is. The userinfo of its address is its login. */
export interface ConnectConnection {
  readonly url: string;
  /** Ends every waiting. */
  readonly interrupt?: AbortSignal | undefined;
  /** Told when Connect does not answer, or rebalances, and is waited for; and when it answers again. */
  readonly onWait?: ((sentence: string) => void) | undefined;
  /** How long a Connect that has answered before may be away. @default 120000 */
  readonly maxAwayMs?: number;
}

export type ConnectorConfig = Readonly<Record<string, string>>;

export type ConnectorState = "UNASSIGNED" | "RUNNING" | "PAUSED" | "STOPPED" | "FAILED" | "RESTARTING";

export interface ConnectorStatus {
  /** That of its task, which does the work, if it has one already. */
  readonly state: ConnectorState | "missing";
  /** The first cause of its trace, if it has failed. */
  readonly cause: string | null;
}

export interface ConnectPlugin {
  readonly class: string;
  /** `source`, `sink`, `converter`, ... */
  readonly type: string;
  readonly version?: string;
}

export interface ConnectInfo {
  readonly version: string;
  /** The cluster that it writes to. */
  readonly kafka_cluster_id?: string;
}

/** Kafka Connect, through its REST API. A Connect that restarts or rebalances is waited for. */
export interface KafkaConnect {
  /** Asked before anything is made: no waiting. */
  info(): Promise<ConnectInfo>;
  /** Connectors, converters and the rest. */
  plugins(): Promise<readonly ConnectPlugin[]>;
  /** Creates the connector or changes it. */
  put(name: string, config: ConnectorConfig): Promise<void>;
  /** Which settings Connect refuses, a sentence each. */
  validate(config: ConnectorConfig): Promise<readonly string[]>;
  status(name: string): Promise<ConnectorStatus>;
  config(name: string): Promise<ConnectorConfig | null>;
  pause(name: string): Promise<void>;
  resume(name: string): Promise<void>;
  restart(name: string): Promise<void>;
  /** Resolves, too, if there is none. */
  delete(name: string): Promise<void>;
}

const requestTimeoutMs = 90_000; // Connect validates the database while it answers
const askAgainMs = 500;
const defaultMaxAwayMs = 120_000;

export function openConnect(connection: ConnectConnection): KafkaConnect {
  const caller = new Caller(connection);
  const path = (name: string): string => `/connectors/${encodeURIComponent(name)}`;
  return {
    info: async () => (await caller.call("GET", "/", { isPatient: false })) as unknown as ConnectInfo,
    plugins: async () => (await caller.call("GET", "/connector-plugins?connectorsOnly=false")) as unknown as readonly ConnectPlugin[],
    put: async (name, config) => void (await caller.call("PUT", `${path(name)}/config`, { body: config, what: `the connector ${name}` })),
    validate: async (config) =>
      refusalsIn(await caller.call("PUT", `/connector-plugins/${config["connector.class"]}/config/validate`, { body: config })),
    status: async (name) => statusOf(await caller.call("GET", `${path(name)}/status`, { isAbsentFine: true })),
    config: async (name) => (await caller.call("GET", `${path(name)}/config`, { isAbsentFine: true })) as ConnectorConfig | null,
    pause: async (name) => void (await caller.call("PUT", `${path(name)}/pause`)),
    resume: async (name) => void (await caller.call("PUT", `${path(name)}/resume`)),
    restart: async (name) => void (await caller.call("POST", `${path(name)}/restart?includeTasks=true`)),
    delete: async (name) => void (await caller.call("DELETE", path(name), { isAbsentFine: true })),
  };
}

interface Call {
  readonly body?: object;
  /** Whether HTTP 404 is an answer: null. */
  readonly isAbsentFine?: boolean;
  /** Whether a Connect that does not answer is waited for. @default true */
  readonly isPatient?: boolean;
  readonly what?: string;
}

class Caller {
  readonly #connection: ConnectConnection;
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** Whether it has ever answered: a wrong address is not waited for. */
  #hasAnswered = false;

  constructor(connection: ConnectConnection) {
    const url = new URL(connection.url);
    const login = url.username === "" ? null : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    this.#connection = connection;
    this.#origin = `${url.origin}${url.pathname.replace(/\/$/, "")}`;
    this.#headers = {
      "content-type": "application/json",
      accept: "application/json",
      ...(login !== null && { authorization: `Basic ${Buffer.from(login).toString("base64")}` }),
    };
  }

  async call(method: string, path: string, call: Call = {}): Promise<Readonly<Record<string, unknown>> | null> {
    const { interrupt, onWait, maxAwayMs = defaultMaxAwayMs } = this.#connection;
    const deadlineMs = performance.now() + maxAwayMs;
    let isWaiting = false;
    while (true) {
      const answer = await this.#ask(method, path, call.body);
      const why = retryReasonOf(answer);
      if (why === null) {
        this.#hasAnswered = true;
        if (isWaiting) {
          onWait?.(`Kafka Connect at ${this.#origin} answers again`);
        }
        return this.#read(answer as Answered, call);
      }
      const isPatient = (call.isPatient ?? true) && (this.#hasAnswered || why !== "does not answer");
      if (!isPatient || performance.now() > deadlineMs) {
        throw this.#unreachable(why, isPatient ? maxAwayMs : 0);
      }
      if (!isWaiting) {
        isWaiting = true;
        onWait?.(`Kafka Connect at ${this.#origin} ${why}: waiting for it, ${Math.round(maxAwayMs / 1e3)} s at most`);
      }
      await pass(askAgainMs, undefined, { ...(interrupt !== undefined && { signal: interrupt }) }).catch(() => {
        throw this.#unreachable(why, 0);
      });
    }
  }

  async #ask(method: string, path: string, body: object | undefined): Promise<Answered | { readonly error: unknown }> {
    try {
      const response = await fetch(`${this.#origin}${path}`, {
        method,
        headers: this.#headers,
        redirect: "error", // a login must not follow to another place
        signal: AbortSignal.timeout(requestTimeoutMs),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      return { error };
    }
  }

  #read({ status, text }: Answered, { isAbsentFine = false, what = "the request" }: Call): Readonly<Record<string, unknown>> | null {
    if (status === 404 && isAbsentFine) {
      return null;
    }
    if (status === 401 || status === 403) {
      throw new BenchError(
        "connection",
        `Kafka Connect at ${this.#origin} refuses the login (HTTP ${status}): put user and password into CONNECT_URL.`,
      );
    }
    const answer = parsed(text);
    if (status >= 400) {
      throw new BenchError("connection", `Kafka Connect refuses ${what} (HTTP ${status}): ${reasonIn(answer, text)}`);
    }
    if (text !== "" && answer === undefined) {
      throw new BenchError(
        "connection",
        `${this.#origin} does not answer as Kafka Connect does (HTTP ${status}, no JSON): is it the address of its REST API?`,
      );
    }
    return (answer ?? {}) as Readonly<Record<string, unknown>>;
  }

  #unreachable(why: string, waitedMs: number): BenchError {
    const since = waitedMs === 0 ? "" : ` for ${Math.round(waitedMs / 1e3)} s`;
    return new BenchError(
      "connection",
      `Kafka Connect at ${this.#origin} ${why}${since}. Is it running, and is it the address of its REST API (--connect, CONNECT_URL)?`,
    );
  }
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Why it is to be asked again; null if it has answered. */
function retryReasonOf(answer: Answered | { readonly error: unknown }): string | null {
  if ("error" in answer) {
    return "does not answer";
  }
  // 409 is a rebalance; 503 comes while the worker starts, and from a proxy before it.
  return answer.status === 409 ? "is rebalancing" : answer.status === 503 ? "is starting" : null;
}

function statusOf(answer: Readonly<Record<string, unknown>> | null): ConnectorStatus {
  if (answer === null) {
    return { state: "missing", cause: null };
  }
  interface Part {
    readonly state: ConnectorState;
    readonly trace?: string;
  }
  const { connector, tasks = [] } = answer as { readonly connector: Part; readonly tasks?: readonly Part[] };
  const failed = [connector, ...tasks].find(({ state }) => state === "FAILED");
  if (failed !== undefined) {
    return { state: "FAILED", cause: firstCauseOf(failed.trace ?? "") };
  }
  return { state: tasks[0]?.state ?? "UNASSIGNED", cause: null };
}

/** What a Java stack trace began with: the outer exceptions only say that a task died. One line, of bounded length. */
export function firstCauseOf(trace: string): string {
  const heads = trace.split("\n").filter((line) => /^\S/.test(line));
  const cause = (heads.at(-1) ?? "")
    .replace(/^Caused by: /, "")
    .replaceAll(/\p{Cc}/gu, " ")
    .trim();
  return cause === "" ? "no reason given" : cause.slice(0, 500);
}

function refusalsIn(answer: Readonly<Record<string, unknown>> | null): readonly string[] {
  const { configs = [] } = (answer ?? {}) as {
    readonly configs?: readonly { readonly value: { readonly name: string; readonly errors: readonly string[] } }[];
  };
  return configs.flatMap(({ value }) => value.errors.map((error) => `${value.name}: ${error}`));
}

function reasonIn(answer: unknown, text: string): string {
  const message = (answer as { readonly message?: unknown } | undefined)?.message;
  return (typeof message === "string" ? message : text).replaceAll(/\s+/g, " ").trim().slice(0, 500);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
