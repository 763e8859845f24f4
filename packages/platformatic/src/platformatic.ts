import { setTimeout as delay } from "node:timers/promises";
import type { DriverCapabilities, DriverSession, DriverSink, KafkaDriver, Subscription } from "@cdckit/consumer";
import { askForCredential, type ConnectionAttempt, explainedByListeners, preflight, refusedToken } from "@cdckit/driver";
import { Cluster } from "./cluster.ts";
import { demandConsumerProtocol } from "./consumer-protocol.ts";
import { makeError } from "./errors.ts";
import { explainFailure, isUnanswered } from "./explain-failure.ts";
import { loadClient } from "./load-client.ts";
import { type ClientConnectionOptions, type ClientLogin, codesOf } from "./low-level-client.ts";
import {
  type PlatformaticConnection,
  type PlatformaticLogin,
  type PlatformaticOptions,
  type ResolvedPlatformaticOptions,
  resolvePlatformaticOptions,
} from "./options.ts";
import { PlatformaticSession } from "./session.ts";

/** A start whose connections fail for so long fails. */
const refusedDeadlineMs = 3_000;
const retryPauseMs = 300;

/** The driver for @platformatic/kafka: `platformatic({ brokers })`. Nothing is loaded and nothing is connected yet. */
export function platformatic(options: PlatformaticOptions): KafkaDriver {
  const resolved = resolvePlatformaticOptions(options);
  return Object.freeze({
    name: "platformatic",
    capabilities: resolved.tuning.groupProtocol === "consumer" ? inConsumerGroups : capabilities,
    connect: (subscription: Subscription, sink: DriverSink) => connect(resolved, subscription, sink),
  });
}

/** What the driver can do with the classic protocol. */
const capabilities: DriverCapabilities = Object.freeze({
  metadataCommit: true,
  topicIds: true, // of brokers from Kafka 2.8 on
  cooperative: true,
  awaitsRevoked: true,
  kip848: false,
  leaderEpoch: true,
  codecs: Object.freeze(["none", "gzip", "snappy", "lz4", "zstd"] as const),
  crc: true,
  offsetResetNone: true,
  reportsStart: true,
  staticMembership: true,
  nullHeaders: true,
  reasons: Object.freeze({ kip848: 'it is chosen by `groupProtocol: "consumer"`' }),
});

const inConsumerGroups: DriverCapabilities = Object.freeze({ ...capabilities, kip848: true, reasons: Object.freeze({}) });

async function connect(options: ResolvedPlatformaticOptions, subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
  const { connection, tuning } = options;
  const module = await loadClient(connection.client);
  const { signal } = subscription;
  const { brokers, clientId = "cdckit" } = connection;
  const cluster = new Cluster({ module, brokers, clientId, connection: connectionOptions(connection) });
  const session = new PlatformaticSession({ cluster, subscription, sink, tuning });
  const onAbort = (): void => cluster.close();
  signal?.addEventListener("abort", onAbort);
  try {
    signal?.throwIfAborted(); // it may have been aborted while the client was loaded
    await reached(cluster);
    if (tuning.groupProtocol === "consumer") {
      await demandConsumerProtocol(cluster, subscription.groupId);
    }
    const topics = await preflight(session.brokers, subscription, makeError);
    signal?.throwIfAborted();
    session.run(topics);
    return session;
  } catch (error) {
    cluster.close();
    const explained = explainFailure(error, cluster.brokers, subscription);
    throw signal?.aborted === true ? signal.reason : await explainedByListeners(explained, attemptOf(connection), makeError, signal);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Resolves when a broker has answered. */
async function reached(cluster: Cluster): Promise<void> {
  for (const deadline = performance.now() + refusedDeadlineMs; ; ) {
    try {
      await cluster.metadata([]);
      return;
    } catch (error) {
      const isFinal = codesOf(error).length === 0 && !isUnanswered(error);
      if (isFinal || performance.now() > deadline) {
        throw error;
      }
    }
    await delay(retryPauseMs, undefined, { signal: cluster.closed });
  }
}

function attemptOf(connection: PlatformaticConnection): ConnectionAttempt {
  const { brokers, sasl } = connection;
  const { tls } = connectionOptions(connection);
  return { brokers, ...(tls && { tls }), ...(sasl && { mechanism: sasl.mechanism }) };
}

/** How the brokers are reached, in the client's form. */
export function connectionOptions({ ssl, sasl }: PlatformaticConnection): Pick<ClientConnectionOptions, "tls" | "sasl"> {
  const tls = ssl === true ? {} : typeof ssl === "object" ? ssl : null;
  return {
    ...(tls === null ? {} : { tls }),
    ...(sasl === undefined ? {} : { sasl: loginOf(sasl) }),
  };
}

function loginOf({ mechanism, ...credentials }: PlatformaticLogin): ClientLogin {
  const checked = Object.entries(credentials).map(([name, one]) => [name, typeof one === "function" ? () => credentialOf(name, one) : one]);
  const login = { mechanism: mechanism.toUpperCase(), ...(Object.fromEntries(checked) as Omit<ClientLogin, "mechanism">) };
  return "token" in credentials ? { ...login, authBytesValidator: judgeOf(typeof credentials.token === "function") } : login;
}

/** The client takes a token that is refused for one that is accepted. A function may give another one later, a text stays as it is. */
function judgeOf(isOfFunction: boolean): NonNullable<ClientLogin["authBytesValidator"]> {
  return (answer, done) => {
    const refusal = refusedToken(answer);
    done(refusal === null ? null : isOfFunction ? makeError("authentication-failed", refusal) : new Error(refusal), answer);
  };
}

/**
 * A credential of the application's function, which may ask a server, which may fail for a moment: that is no refusal of the brokers, and the
 * next connection asks again.
 */
function credentialOf(name: string, give: () => string | Promise<string>): Promise<string> {
  const wrong = (given: unknown): string | null => (given === "" ? "an empty text" : typeof given === "string" ? null : typeof given);
  return askForCredential({ option: `sasl.${name}`, expected: "a text", give, wrong, makeError });
}
