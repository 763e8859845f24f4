/** The API in a process of its own, so that it and its client are timed and counted apart. Started by `own-api.ts`. */
import type { AddressInfo } from "node:net";
import { startAllocation } from "../../codec/allocation.ts";
import { createDataSet, seededDataSets } from "../../codec/data-sets.ts";
import { createApiServer } from "./api-server.ts";
import type { ServerAnswer, ServerRequest } from "./own-api.ts";

let stopCounting: (() => { readonly bytes: number }) | undefined;

function answer(message: ServerAnswer): void {
  process.send?.(message);
}

process.on("message", (request: ServerRequest) => {
  switch (request.kind) {
    case "serve": {
      const seeded = seededDataSets[request.suite];
      if (seeded === undefined) {
        throw new Error(`there is no suite ${request.suite}`);
      }
      const { shape, rows } = createDataSet(request.suite, seeded, request.rows, request.seed);
      const server = createApiServer({ shape, rows, maxBodyBytes: request.maxBytes, maxDecodedBytes: request.maxBytes });
      server.listen(0, "127.0.0.1", () => answer({ kind: "serving", port: (server.address() as AddressInfo).port }));
      return;
    }
    case "count":
      stopCounting = startAllocation();
      answer({ kind: "counting" });
      return;
    case "counted":
      answer({ kind: "counted", bytes: stopCounting?.().bytes ?? 0 });
      stopCounting = undefined;
  }
});

// Ctrl-C and a closed terminal reach the whole group of processes, and so does SIGTERM from `timeout`: the client says when it is over. Without
// it there is nobody to serve.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("SIGHUP", () => {});
process.on("disconnect", () => process.exit());
