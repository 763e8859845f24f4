import type { Conversion } from "./conversion.ts";

/** MySQL's SET as a list of its members. Members cannot contain commas. */
export const enumSetConversion: Conversion = Object.freeze({ text: (text: string): string[] => (text === "" ? [] : text.split(",")) });
