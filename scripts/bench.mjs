/** `npm run bench`: the in-process figures of `bench/`, beside their peers. */
import process from "node:process";
import { become, setUp } from "./set-up.mjs";

setUp({ build: true });
await become("bench/dist/main.js", process.argv.slice(2));
