import type { Observer } from "../../observe/observer.ts";
import type { ClusterAccess } from "../../scenario/catch-up/cluster-access.ts";

/** Does the work, and then deletes what it made, before its result is written: whoever reads that may be slow. */
export async function onCluster<T>(cluster: ClusterAccess, observer: Observer, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    observer.end();
    await cluster.close();
  }
}
