import type { Profiler } from "node:inspector";
import type { Terminal } from "../terminal.ts";
import { listenToControl } from "./control-pipe.ts";
import { openObservationPipe, sendMessage } from "./observation-pipe.ts";

/** A profile has tens of thousands of functions that took less. */
const minShare = 0.001;

/** What a process does for the program that started it and follows it, such as the page of `ui`. */
export interface FollowedProcess {
  /** Ends a recording that goes on, and waits until the profile is with the reader. */
  finish(): Promise<void>;
}

/**
 * Listens to the control pipe, if there is one: records CPU profiles while it is asked to, and writes them to the observation pipe.
 * @param onGone the program that follows is gone, so that nobody waits for the result
 */
export function letBeFollowed(env: Terminal["env"], onGone: () => void): FollowedProcess {
  const recorder = createRecorder(env);
  listenToControl(env, { onGone, onMessage: ({ isOn }) => (isOn ? recorder.begin() : recorder.end()) });
  return recorder;
}

function createRecorder(env: Terminal["env"]): FollowedProcess & { begin(): void; end(): void } {
  const profiles: Profiler.Profile[] = [];
  let stop: (() => void) | undefined;
  let recorded = Promise.resolve();
  const end = (): void => {
    stop?.();
    stop = undefined;
  };
  return {
    begin() {
      if (stop === undefined) {
        const stopped = new Promise<void>((resolve) => {
          stop = resolve;
        });
        recorded = recorded.then(() => record(env, profiles, stopped));
      }
    },
    end,
    async finish() {
      end();
      await recorded;
      await openObservationPipe(env)?.flush();
    },
  };
}

async function record(env: Terminal["env"], profiles: Profiler.Profile[], stopped: Promise<void>): Promise<void> {
  const [{ recordProfile }, { combineProfiles }, { frameTreeOf }] = await Promise.all([
    import("../profile/recorder.ts"),
    import("../profile/combine.ts"),
    import("../profile/frame-tree.ts"),
  ]);
  profiles.push((await recordProfile(() => stopped)).profile);
  const pipe = openObservationPipe(env);
  if (pipe !== undefined) {
    const recordedMs = profiles.reduce((sum, { startTime, endTime }) => sum + (endTime - startTime) / 1e3, 0);
    sendMessage(pipe, { kind: "profile", atMs: performance.now(), recordedMs, root: frameTreeOf(combineProfiles(profiles), minShare) });
  }
}
