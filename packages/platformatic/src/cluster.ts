import { isIP } from "node:net";
import { brokerText, hostAndPort, type HostAndPort, maxInt32, sharedAbortController } from "@cdckit/driver";
import { askAgain } from "./ask-again.ts";
import { BrokerTurns } from "./broker-turns.ts";
import { PlatformaticDriverError } from "./errors.ts";
import { isUnanswered } from "./explain-failure.ts";
import { Link } from "./link.ts";
import {
  type ClientConnection,
  type ClientConnectionOptions,
  hasCodeOf,
  isAnswer,
  type PlatformaticModule,
  responseOf,
} from "./low-level-client.ts";
import { Remembered } from "./remembered.ts";
import {
  type ChosenRequest,
  chooseRequest,
  type CoordinatorAnswer,
  coordinatorMoves,
  type MetadataAnswer,
  type OfferedRequest,
  type RequestName,
} from "./requests.ts";

export interface ClusterParts {
  readonly module: PlatformaticModule;
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly connection: Pick<ClientConnectionOptions, "tls" | "sasl">;
  /** How long an answer may take that the brokers do not hold back. */
  readonly answerDeadlineMs?: number;
}

/** What a connection is used for. A broker answers the requests of a connection one after the other, so what waits long has its own. */
export type Purpose = "question" | "join" | "sync" | "member" | "write" | `fetch ${number}`;

export type CoordinatorKind = "group" | "transaction";

const connectTimeoutMs = 5_000;
const defaultAnswerDeadlineMs = 10_000;
const roundPauseMs = 300;

/** The brokers, and the connections to them. */
export class Cluster {
  readonly #parts: ClusterParts;
  readonly #links = new Map<string, Link>();
  readonly #coordinators: Remembered<HostAndPort> = new Remembered();
  /** What each broker knows, by its address: in a rolling upgrade they are of two versions. */
  readonly #offered: Remembered<readonly OfferedRequest[]> = new Remembered();
  readonly #bootstrap: readonly HostAndPort[];
  readonly #turns: BrokerTurns = new BrokerTurns();
  #nodes: ReadonlyMap<number, HostAndPort> = new Map();
  readonly #closed: AbortController = sharedAbortController();

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.#bootstrap = parts.brokers.map(hostAndPort);
  }

  get module(): PlatformaticModule {
    return this.#parts.module;
  }

  /** The addresses that were given, for messages. */
  get brokers(): string {
    return this.#parts.brokers.join(", ");
  }

  /** Aborted when nothing more is asked. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Sends a request to a broker. `heldBackMs`: how long the broker itself may hold the answer back. */
  async ask<T>(at: HostAndPort, purpose: Purpose, name: RequestName, values: readonly unknown[], heldBackMs = 0): Promise<T> {
    const { api } = await this.request(at, name);
    return (await this.send(at, purpose, heldBackMs, (connection) => api.async(connection, ...values))) as T;
  }

  /** The same for a request that the caller makes by itself, in a version that the broker knows. */
  async send<T>(at: HostAndPort, purpose: Purpose, heldBackMs: number, request: (connection: ClientConnection) => Promise<T>): Promise<T> {
    try {
      const answer = await this.#link(at, purpose, heldBackMs).send(request);
      this.#turns.answered(at);
      return answer;
    } catch (error) {
      this.#turns[isAnswer(error) ? "answered" : "failed"](at);
      throw error;
    }
  }

  /** Ends the connection for this purpose, if there is one. What waits for an answer on it fails. */
  unlink(at: HostAndPort, purpose: Purpose): void {
    this.#links.get(linkName(at, purpose))?.drop();
  }

  /** Whether a broker, the client and the driver have a version of the request in common. */
  offers(name: RequestName): Promise<boolean> {
    return this.anywhere(async (at) => (await this.#choose(at, name)) !== null);
  }

  /** The request in the version that the broker knows. `below`: an older version than that. */
  async request(at: HostAndPort, name: RequestName, below?: number): Promise<ChosenRequest> {
    const chosen = await this.#choose(at, name, below);
    if (chosen === null) {
      throw new PlatformaticDriverError(
        "client-crashed",
        `the broker ${brokerText(at)} and @platformatic/kafka have no version of the request ${name} in common: use Kafka 2.7 or newer`,
      );
    }
    return chosen;
  }

  /** Metadata of these topics; of all if it is null. Topics that do not exist are in the answer, with an error code. */
  async metadata(topics: readonly string[] | null): Promise<MetadataAnswer> {
    const answer = await this.anywhere((at) =>
      this.ask<MetadataAnswer>(at, "question", "Metadata", [topics, false, false]).catch((error: unknown) => {
        const partial = responseOf<MetadataAnswer>(error);
        if (partial === undefined) {
          throw error;
        }
        return partial;
      }),
    );
    this.#nodes = new Map(answer.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
    return answer;
  }

  /** The address of a broker, as far as it is known. */
  node(id: number): HostAndPort | undefined {
    return this.#nodes.get(id);
  }

  /** Asks one broker after the other until one answers, each time another one first. */
  async anywhere<T>(ask: (at: HostAndPort) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (const at of this.#turns.next([...this.#nodes.values(), ...this.#bootstrap])) {
      this.#closed.signal.throwIfAborted();
      try {
        return await ask(at);
      } catch (error) {
        if (!isUnanswered(error)) {
          throw error;
        }
        failure = error;
      }
    }
    throw failure;
  }

  /** The coordinator of a group or of a transactional id. It is remembered until `forget`. */
  coordinator(kind: CoordinatorKind, key: string): Promise<HostAndPort> {
    return this.#coordinators.get(`${kind} ${key}`, () => this.#findCoordinator(kind, key));
  }

  forget(kind: CoordinatorKind, key: string): void {
    this.#coordinators.forget(`${kind} ${key}`);
  }

  /** Ends all connections. What is asked later opens new ones. */
  drop(): void {
    this.#coordinators.clear();
    this.#offered.clear();
    for (const link of this.#links.values()) {
      link.drop();
    }
  }

  close(): void {
    this.#closed.abort(new PlatformaticDriverError("client-crashed", "the session is closed"));
    for (const link of this.#links.values()) {
      link.close();
    }
  }

  #findCoordinator(kind: CoordinatorKind, key: string): Promise<HostAndPort> {
    const values = [kind === "group" ? 0 : 1, [key]];
    const ask = async (): Promise<HostAndPort> => {
      const { coordinators } = await this.anywhere((at) => this.ask<CoordinatorAnswer>(at, "question", "FindCoordinator", values));
      const [found] = coordinators;
      if (found === undefined) {
        throw new PlatformaticDriverError("client-crashed", `no broker named a coordinator of the ${kind} ${key}`);
      }
      return { host: found.host, port: found.port };
    };
    return askAgain(ask, {
      mayPass: (error) => hasCodeOf(error, coordinatorMoves),
      deadline: performance.now() + this.#answerDeadlineMs,
      pauseMs: roundPauseMs,
      ended: this.#closed.signal,
    });
  }

  async #choose(at: HostAndPort, name: RequestName, below?: number): Promise<ChosenRequest | null> {
    const offered = await this.#offered.get(brokerText(at), () => this.#askOffered(at));
    return chooseRequest(this.#parts.module, offered, name, below);
  }

  async #askOffered(at: HostAndPort): Promise<readonly OfferedRequest[]> {
    const { api } = this.#parts.module["apiVersionsV3"] as ChosenRequest; // every version of the client has it
    const answer = await this.send(at, "question", 0, (connection) => api.async(connection, "cdckit", "0.1.0"));
    return (answer as { readonly apiKeys: readonly OfferedRequest[] }).apiKeys;
  }

  get #answerDeadlineMs(): number {
    return this.#parts.answerDeadlineMs ?? defaultAnswerDeadlineMs;
  }

  #link(at: HostAndPort, purpose: Purpose, heldBackMs: number): Link {
    const name = linkName(at, purpose);
    const known = this.#links.get(name);
    if (known !== undefined) {
      return known;
    }
    const { module, clientId, connection } = this.#parts;
    const options = {
      ...connection,
      // An address is no server name. The client sends none by itself, and a proxy may choose the broker by it.
      tlsServerName: isIP(at.host) === 0 && !("servername" in (connection.tls ?? {})),
      connectTimeout: connectTimeoutMs,
      requestTimeout: Math.min(heldBackMs + this.#answerDeadlineMs, maxInt32), // a longer delay overflows, and the timer fires at once
      maxInflights: 5,
    };
    const link: Link = new Link({
      module,
      clientId,
      options,
      address: at,
      ended: () => {
        this.#offered.forget(brokerText(at)); // the broker may be back in another version
        if (!link.isOpen && this.#links.get(name) === link) {
          this.#links.delete(name); // or at another address, again and again
        }
      },
    });
    if (this.#closed.signal.aborted) {
      link.close();
    }
    this.#links.set(name, link);
    return link;
  }
}

function linkName(at: HostAndPort, purpose: Purpose): string {
  return `${brokerText(at)} ${purpose}`;
}
