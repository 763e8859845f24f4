import { type FlowOptions, measureFlow } from "./cases/flow.ts";

process.stdout.write(JSON.stringify(await measureFlow(JSON.parse(process.argv[2] ?? "{}") as FlowOptions)));
