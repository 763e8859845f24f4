import { throwAwayGroup } from "../load/cluster.ts";
import type { ClusterConnection } from "../load/connection.ts";
import type { Leftovers } from "./leftovers.ts";
import { brokersText } from "./removers/kafka.ts";
import type { Thing } from "./thing.ts";

export interface GroupPlace {
  readonly connection: ClusterConnection;
  readonly leftovers: Leftovers;
}

/** A consumer group of its own for one reading, written down before it is made and removed afterwards. */
export async function inGroup<Result>({ connection, leftovers }: GroupPlace, read: (groupId: string) => Promise<Result>): Promise<Result> {
  const group: Thing = { kind: "consumer-group", name: throwAwayGroup(), at: brokersText(connection) };
  await leftovers.making(group);
  try {
    return await read(group.name);
  } finally {
    await leftovers.remove(group).catch(() => {}); // it stays listed, and is tried again, and told, at the end of the command
  }
}
