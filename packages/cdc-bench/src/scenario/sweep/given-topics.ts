import { BenchError } from "../../bench-error.ts";
import type { Cluster } from "../../load/cluster.ts";
import { heldBackNotes } from "../../load/held-back.ts";
import { endsIn } from "../catch-up/cluster-access.ts";
import type { SweepPlan } from "./run-sweep.ts";

/** Topics that exist, as they are. Rejects if one does not exist, and if there is nothing in them that can be read. */
export async function givenTopics(
  cluster: Pick<Cluster, "extentsOf" | "heldBackOf">,
  topics: readonly string[],
): Promise<Pick<SweepPlan, "topics" | "ends" | "records" | "heldBack">> {
  const extents = await cluster.extentsOf(topics);
  const heldBack = [...(await heldBackNotes(cluster, extents)).values()];
  const records = extents.reduce((sum, { maxRecords }) => sum + Number(maxRecords), 0);
  if (records === 0) {
    const why = heldBack.length === 0 ? "" : ` ${heldBack.join(". ")}.`;
    throw new BenchError("too-few-messages", `${topics.join(", ")}: there is nothing in it.${why} Seed it, or leave --topics out.`);
  }
  return { topics, ends: endsIn(extents), records, heldBack };
}
