import type { Profiler } from "node:inspector";
import type { TripThread } from "./trip-thread.ts";

/** Does the work, and gives the profile of each thread to `add`. If the work fails, there is none. */
export async function profileThreads<T>(
  threads: readonly TripThread[],
  work: () => Promise<T>,
  add: (profile: Profiler.Profile) => void,
): Promise<T> {
  await Promise.all(threads.map((thread) => thread.request({ kind: "start-profile" })));
  const value = await work();
  for (const thread of threads) {
    const answer = await thread.request({ kind: "stop-profile" });
    if (answer.kind === "profile") {
      add(answer.profile);
    }
  }
  return value;
}
