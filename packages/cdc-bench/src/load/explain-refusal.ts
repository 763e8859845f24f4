import { diagnoseConnection, type SettingNames } from "@cdckit/kafkajs";
import { BenchError } from "../bench-error.ts";
import type { ClusterConnection } from "./connection.ts";

/** The driver's diagnosis, in the names of our flags. */
const flagNames: SettingNames = Object.freeze({
  brokers: "--brokers",
  useTls: "give --ssl, and --ssl-ca FILE if an authority of your own signs",
  leaveTls: "leave --ssl away (and KAFKA_SSL)",
  nameAuthority: "name it with --ssl-ca FILE",
  showCertificate: "give --ssl-cert FILE and --ssl-key FILE",
  certificate: "--ssl-cert",
  logIn:
    "give --sasl-mechanism plain, scram-sha-256 or scram-sha-512, --sasl-username, and the password as the environment variable KAFKA_SASL_PASSWORD",
  leaveLogin: "leave --sasl-mechanism and --sasl-username away (and KAFKA_SASL_*)",
  changeMechanism: "give another --sasl-mechanism",
  checkLogin: "check --sasl-username, KAFKA_SASL_PASSWORD",
  rights: "it needs Describe and Read on the topics, and Read on groups named cdc-bench-*",
});

/**
 * Why the brokers did not let us in, in a sentence with what to do. Where the client does not say, a broker is asked what it wants. `rights`:
 * those that were missing, if it is not the topics and a group of our own that was asked for.
 */
export async function explainRefusal(
  connection: ClusterConnection,
  error: unknown,
  rights: string = flagNames.rights,
): Promise<BenchError> {
  const { brokers, tls, login } = connection;
  const attempt = {
    brokers,
    ...(tls === undefined ? {} : { tls: { ...tls } }),
    ...(login === undefined ? {} : { mechanism: login.mechanism }),
  };
  const diagnosis = await diagnoseConnection(attempt, error, { ...flagNames, rights });
  const sentence =
    diagnosis?.sentence ??
    `cannot reach Kafka at ${brokers.join(", ")}: ${rootReason(error)}. Is a broker running there, and do its advertised listeners fit this machine?`;
  return refusal(connection, sentence, error);
}

/** The same for records that could not be written to these topics. */
export function explainRefusedWrite(connection: ClusterConnection, error: unknown, topics: readonly string[]): Promise<BenchError> {
  return explainRefusal(
    connection,
    error,
    `it needs Describe and Write on the ${topics.length === 1 ? "topic" : "topics"} ${topics.join(", ")}`,
  );
}

/** What a broker says about a login is not ours: it is kept only as far as it does not repeat the password. */
function refusal({ brokers, login }: ClusterConnection, sentence: string, cause: unknown): BenchError {
  const texts = causesOf(cause).map(({ message, stack }) => `${message}${stack}`);
  const isSafe = login === undefined || !texts.some((text) => text.includes(login.password));
  const place = brokers.some((broker) => sentence.includes(broker)) ? "" : `Kafka at ${brokers.join(", ")}: `;
  return new BenchError("connection", `${place}${sentence}`, isSafe ? { cause } : {});
}

/** The error and what it came from, outermost first. */
function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let next = error; next instanceof Error && !chain.includes(next); next = next.cause) {
    chain.push(next);
  }
  return chain;
}

function rootReason(error: unknown): string {
  const said = causesOf(error).at(-1)?.message ?? String(error);
  return said.replace(/^(Connection error: )+/, "").replace(/[.\s]+$/, "") || "no answer";
}
