import { describe } from "vitest";
import { describeWithKafka, type SharedKafka } from "./stack.ts";

/** Not declared as a dependency: `scripts/confluent-client.mjs` installs it. */
const clientName: string = "@confluentinc/kafka-javascript";

/** Null, or why the tests that need the client are skipped. */
export const skipReason: string | null = await import(clientName).then(
  () => null,
  (error: unknown) =>
    `@confluentinc/kafka-javascript does not load here (${String((error as Error).message).split("\n")[0]}): run \`node scripts/confluent-client.mjs\``,
);

/** A suite that runs against the shared broker with the real client, or is reported as skipped with the reason. */
export async function describeWithConfluent(name: string, body: (kafka: SharedKafka) => void): Promise<void> {
  if (skipReason === null) {
    await describeWithKafka(name, body);
  } else {
    describe.skip(name, { meta: { skipReason } }, () => body({ brokers: "127.0.0.1:1", classPath: "" }));
  }
}
