import { hexText } from "./bytes-text.ts";
import type { Conversion } from "./conversion.ts";
import { valueInvalid } from "./value-invalid.ts";

/** A UUID, which Avro may write as 16 bytes. */
export function uuidConversion(name: string): Conversion {
  return {
    bytes: (bytes, start, end) => {
      if (end - start !== 16) {
        throw valueInvalid(name, "16 bytes", `${end - start}`);
      }
      return uuidText(hexText(bytes, start, end));
    },
  };
}

/** 32 hexadecimal digits with their dashes. */
export function uuidText(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
