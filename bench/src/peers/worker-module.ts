import { BroadcastChannel } from "node:worker_threads";
import { createConsumer, type MakeWorkerConsumer } from "@cdckit/consumer";
import { ourDriver } from "./our-drivers.ts";
import { readEvent } from "./ours.ts";
import { type Counted, countsChannel, workerBrokersVariable, workerDriverVariable } from "./worker-counts.ts";

/** What each thread runs: every column read, as with one thread. */
const makeConsumer: MakeWorkerConsumer = async (options, worker) => {
  const driver = await ourDriver(process.env[workerDriverVariable] ?? "").load(process.env[workerBrokersVariable] ?? "");
  const channel = new BroadcastChannel(countsChannel);
  worker.onStopped(() => channel.close());
  let [count, read, isReportDue] = [0, 0, false];
  const tell = (): void => {
    isReportDue = false;
    channel.postMessage({ worker: worker.number, count, atNs: process.hrtime.bigint() } satisfies Counted);
  };
  return createConsumer({ ...options, driver }).on("*", (event) => {
    if (count === 0) {
      tell(); // the clock begins with the first event
    }
    count++;
    read += readEvent(event);
    if (!isReportDue && read > 0) {
      isReportDue = true;
      setImmediate(tell); // once a turn of the event loop
    }
  });
};
export default makeConsumer;
