import type { Admin } from "kafkajs";
import { BenchError } from "../../bench-error.ts";
import type { ClusterConnection } from "../../load/connection.ts";
import { deleteGroup, groupDenied } from "../../load/delete-group.ts";
import { explainRefusal } from "../../load/explain-refusal.ts";
import type { RemoveThing } from "../leftovers.ts";
import { createKafkaClient } from "../../load/kafka-client.ts";
import { untilAnswered } from "../../load/passing-answers.ts";

/** How long a group's members may take to be noticed as gone: longer than the session of a consumer that was killed. */
const groupDeadlineMs = 40_000;

export interface KafkaRemovers {
  readonly removeTopic: RemoveThing;
  readonly removeGroup: RemoveThing;
  close(): Promise<void>;
}

/** Brokers as a {@link Thing} names them. */
export function brokersText({ brokers }: ClusterConnection): string {
  return brokers.join(",");
}

/** @param access used for the brokers that it names, and for no others */
export function createKafkaRemovers(access: ClusterConnection | undefined): KafkaRemovers {
  const admins = new Map<string, Promise<Admin>>();
  const connectionOf = (at: string): ClusterConnection =>
    access !== undefined && at.split(",").some((broker) => access.brokers.includes(broker)) ? access : { brokers: at.split(",") };
  const adminOf = (at: string): Promise<Admin> => {
    const admin = admins.get(at) ?? connect(connectionOf(at));
    admins.set(at, admin);
    return admin;
  };
  return {
    removeTopic: async ({ name, at }) => {
      const admin = await adminOf(at);
      // Asked first: kafkajs tells of a topic that is not there only after all its attempts.
      const topics = (await untilAnswered(() => admin.listTopics())).filter((topic) => isNamed(topic, name));
      for (const topic of topics) {
        await admin.deleteTopics({ topics: [topic] }).catch(refuseUnlessMissing);
      }
    },
    removeGroup: async ({ name, at }) => removeGroup(await adminOf(at), name),
    close: async () => {
      await Promise.all([...admins.values()].map((opening) => opening.then((opened) => opened.disconnect()).catch(() => {}))); // one that was never opened, too
    },
  };
}

/** Whether a name is this one, or starts as it says with a star at its end. */
export function isNamed(name: string, wanted: string): boolean {
  return wanted.endsWith("*") ? wanted.length > 1 && name.startsWith(wanted.slice(0, -1)) : name === wanted;
}

async function connect(connection: ClusterConnection): Promise<Admin> {
  const kafka = createKafkaClient(connection, 3);
  const admin = kafka.admin();
  try {
    await admin.connect();
    return admin;
  } catch (error) {
    throw await explainRefusal(connection, error);
  }
}

/** Asked first whether there is one: who may not delete groups is not told so of a group that is gone. */
export async function removeGroup(admin: Pick<Admin, "listGroups" | "deleteGroups">, group: string): Promise<void> {
  const { groups } = await untilAnswered(() => admin.listGroups());
  const isThere = groups.some(({ groupId }) => groupId === group);
  const refusal = isThere ? await deleteGroup(admin, group, groupDeadlineMs) : null;
  if (refusal !== null) {
    const right = refusal === groupDenied ? ": the login needs Delete on the group" : "";
    throw new BenchError("connection", `the brokers do not delete it (${refusal})${right}`);
  }
}

function refuseUnlessMissing(error: unknown): void {
  if (Object(error).type !== "UNKNOWN_TOPIC_OR_PARTITION") {
    throw error;
  }
}
