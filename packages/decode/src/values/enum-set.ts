import type { Conversion } from "./conversion.ts";

/** MySQL's SET: its members, which cannot hold commas. */
export const enumSetConversion: Conversion = Object.freeze({ text: (text: string): string[] => (text === "" ? [] : text.split(",")) });
