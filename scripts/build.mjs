/** `npm run build`: every package into its `dist`, from a fresh clone. */
import { readArguments } from "./arguments.mjs";
import { setUp } from "./set-up.mjs";

readArguments("usage: npm run build", {});
await setUp({ build: true });
