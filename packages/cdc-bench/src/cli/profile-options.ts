import type { Profiler } from "node:inspector";
import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { BenchError } from "../bench-error.ts";
import type { Profiling } from "../profile/profiling.ts";
import type { ProfileResult } from "../result/profile-result.ts";

/** What `--profile` says: a file name, or true without one. */
export interface ProfileFlags {
  readonly profile?: string | true;
}

export function addProfileFlags(command: Command): Command {
  return command.option("--profile [file]", "record a CPU profile of what is measured: a flame graph (SVG), and .cpuprofile beside it");
}

/**
 * To profile a command: {@link addProfileFlags} on it, and in its action
 *
 *     const profiling = openProfiling(flags, "drain");
 *     const measured = await profiling.record(() => measureDrain(options));
 *     await writeResult(sink, flags, await profiling.addTo(resultOf(measured)));
 *
 * `record` and `addTo` do nothing more if `--profile` is absent. A file that cannot be written is an error before anything is measured.
 */
export function openProfiling({ profile: wanted }: ProfileFlags, command: string): Profiling {
  if (wanted === undefined) {
    return { isWanted: false, record: (work) => work(), addThread: () => {}, addTo: async (result) => result };
  }
  const files = filesOf(wanted, command);
  const recorded: Profiler.Profile[] = [];
  let recordedThreads: ProfileResult["threads"] = "main";
  return {
    isWanted: true,
    addThread(profile) {
      recordedThreads = "workers";
      recorded.push(profile);
    },
    async record(work) {
      const { recordProfile } = await import("../profile/recorder.ts");
      const { value, profile } = await recordProfile(work);
      recorded.push(profile);
      return value;
    },
    async addTo(result) {
      if (recorded.length === 0) {
        return result;
      }
      const { writeProfile } = await import("../profile/write-profile.ts");
      const { combineProfiles } = await import("../profile/combine.ts");
      return { ...result, ...(await writeProfile(combineProfiles(recorded), { ...files, threads: recordedThreads }, result)) };
    },
  };
}

/** Where a profile is written. */
export interface ProfileFiles {
  readonly flameGraphFile: string;
  readonly cpuProfileFile: string;
}

function filesOf(wanted: string | true, command: string): ProfileFiles {
  const name =
    wanted === true
      ? `cdc-bench-${command}-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`
      : wanted.replace(/\.(?:svg|cpuprofile)$/, "");
  try {
    accessSync(dirname(name), constants.W_OK);
  } catch (cause) {
    throw new BenchError("usage", `cannot write the profile to ${name}.svg: name a file in a folder that exists and can be written to.`, {
      cause,
    });
  }
  return { flameGraphFile: `${name}.svg`, cpuProfileFile: `${name}.cpuprofile` };
}
