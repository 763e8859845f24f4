import { BenchError } from "../../bench-error.ts";
import { type ClusterAccess, endsIn } from "../catch-up/cluster-access.ts";
import type { SweepPlan } from "./run-sweep.ts";

/** Topics that exist, as they are. Rejects if there is nothing in them. */
export async function givenTopics(
  cluster: Pick<ClusterAccess, "extentsOf">,
  topics: readonly string[],
): Promise<Pick<SweepPlan, "topics" | "ends" | "records">> {
  const extents = await cluster.extentsOf(topics);
  const records = extents.reduce((sum, { maxRecords }) => sum + Number(maxRecords), 0);
  if (records === 0) {
    throw new BenchError("too-few-messages", `${topics.join(", ")}: there is nothing in it. Seed it, or leave --topics out.`);
  }
  return { topics, ends: endsIn(extents), records };
}
