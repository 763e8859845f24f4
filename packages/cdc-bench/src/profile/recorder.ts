import type { Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";
import { withSources } from "./sources.ts";

/** How often V8 looks which function runs. */
export const samplingIntervalUs = 1_000;

/** A profile that is being recorded. */
export interface ProfileRecording {
  stop(): Promise<Profiler.Profile>;
  /** Ends it without a profile. */
  cancel(): void;
}

/** Records the CPU profile of this thread until it is stopped. */
export async function startRecording(): Promise<ProfileRecording> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: samplingIntervalUs });
  await session.post("Profiler.start");
  return {
    async stop() {
      const { profile } = await session.post("Profiler.stop");
      session.disconnect();
      return withSources(profile);
    },
    cancel: () => session.disconnect(),
  };
}

/** Records the CPU profile of this thread while the work is done. If the work fails, there is no profile. */
export async function recordProfile<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly profile: Profiler.Profile }> {
  const recording = await startRecording();
  try {
    return { value: await work(), profile: await recording.stop() };
  } catch (error) {
    recording.cancel();
    throw error;
  }
}
