/** `npm run build`: every package into its `dist`, from a fresh clone. */
import { setUp } from "./set-up.mjs";

setUp({ build: true });
