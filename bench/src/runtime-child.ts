import { measureRuntime, type RuntimeCase } from "./cases/runtime.ts";

const [name, rounds, messages] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measureRuntime(name as RuntimeCase, Number(rounds), Number(messages))));
