/** A thread that plays round trips: it has codecs and a connection of its own. Started by `trip-thread.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { BenchError } from "../../bench-error.ts";
import { measureCodecs } from "../../codec/measure-codecs.ts";
import { combineProfiles } from "../../profile/combine.ts";
import { type ProfileRecording, startRecording } from "../../profile/recorder.ts";
import { hideNegativeTimeouts } from "../../negative-timeouts.ts";
import { checkCodecs, playTrial, sharedThreadState } from "./trial.ts";
import { withAddedField } from "./evolution.ts";
import { explainedFailure } from "./thread-failure.ts";
import { type ThreadAnswer, type ThreadRequest, type ThreadSetup, stateFields, type Trial, type TrialOutcome } from "./thread-protocol.ts";
import { firstLine } from "./plug-in.ts";
import { openTransport } from "./open-transport.ts";
import { compressedVersion, roundtripCodecs, type VersionedCodec } from "./roundtrip-codecs.ts";

hideNegativeTimeouts();
const setup = workerData as ThreadSetup;
const state = sharedThreadState(setup.state);
const fields = new Int32Array(setup.state);
const port = parentPort;
let recording: ProfileRecording | undefined;
let kafkaCompression: "none" | "gzip" = "none";

// A codec whose promise never settles would let the thread end, as if it had nothing to do.
const alive = setInterval(() => {}, 60_000);

const { shape: newShape, field } = withAddedField(setup.shape);

async function start(): Promise<(request: ThreadRequest) => Promise<ThreadAnswer>> {
  const codecs = await roundtripCodecs({
    shapes: { old: setup.shape, new: newShape },
    field,
    plugIns: setup.plugIns,
    names: setup.codecNames,
  });
  await checkCodecs(codecs, setup.rows, state, (index) => Atomics.store(fields, stateFields.codec, index));
  const transport = await openTransport(setup, () => kafkaCompression);
  const parts = { transport, rows: setup.rows, field, state };
  answer({ kind: "ready", codecs: codecs.map(({ name }) => name) });
  return async (request) => {
    switch (request.kind) {
      case "play":
        return { kind: "played", outcome: await play(request.trial, codecs, parts) };
      case "memory":
        return { kind: "memory", measures: await measureInMemory(codecs, request.rounds, request.minMs) };
      case "start-profile":
        recording = await startRecording();
        return { kind: "profile-started" };
      case "stop-profile":
        return { kind: "profile", profile: (await recording?.stop()) ?? combineProfiles([]) };
      case "close":
        await transport.close();
        return { kind: "closed" };
    }
  };
}

function play(
  trial: Trial,
  codecs: readonly VersionedCodec[],
  parts: Omit<Parameters<typeof playTrial>[1], "codec">,
): Promise<TrialOutcome> {
  Atomics.store(fields, stateFields.codec, trial.codec);
  const codec = codecs[trial.codec];
  if (codec === undefined) {
    throw new Error(`there is no codec ${trial.codec}`);
  }
  if (setup.via === "kafka") {
    kafkaCompression = trial.compression === "gzip" ? "gzip" : "none";
    return playTrial(trial, { ...parts, codec });
  }
  const wrapped = trial.compression === "none" ? codec : compressedVersion(codec, trial.compression);
  if (wrapped === null) {
    throw new BenchError("usage", `this version of Node has no ${trial.compression}.`);
  }
  return playTrial(trial, { ...parts, codec: wrapped });
}

async function measureInMemory(codecs: readonly VersionedCodec[], rounds: number, minMs: number): ReturnType<typeof measureCodecs> {
  const controller = new AbortController();
  const onProgress = (name: string): void => {
    Atomics.store(
      fields,
      stateFields.codec,
      codecs.findIndex((codec) => codec.name === name),
    );
    state.roundDone();
    if (state.isStopped) {
      controller.abort();
    }
  };
  state.enter("memory");
  try {
    const values = setup.rows;
    const measured = codecs.map(({ versions }) => versions.old);
    return await measureCodecs({ codecs: measured, values, rounds, minMs, interrupt: controller.signal, onProgress });
  } catch (error) {
    if (error instanceof BenchError) {
      throw error;
    }
    const name = codecs[Atomics.load(fields, stateFields.codec)]?.name ?? "";
    throw new BenchError("usage", `the codec ${name} failed in memory: ${firstLine(error)}.`, { cause: error });
  } finally {
    state.enter("idle");
  }
}

function answer(message: ThreadAnswer): void {
  port?.postMessage(message);
}

try {
  const handle = await start();
  port?.on("message", (request: ThreadRequest) => {
    handle(request).then(answer, (error: unknown) => answer(explainedFailure(error)));
    if (request.kind === "close") {
      clearInterval(alive);
      port.unref();
    }
  });
} catch (error) {
  answer(explainedFailure(error));
}
