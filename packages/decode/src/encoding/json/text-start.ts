const firstBytes: ReadonlySet<number> = new Set(Buffer.from('{["-0123456789tfn \t\r\n'));
const documentFirstBytes: ReadonlySet<number> = new Set(Buffer.from('{["'));
const whiteSpace: ReadonlySet<number> = new Set(Buffer.from(" \t\r\n"));

/** Whether the first byte is one that JSON can begin with. */
export function mayBeJson(bytes: Uint8Array, start: number, end: number): boolean {
  return start < end && firstBytes.has(bytes[start] as number);
}

/** Whether the first byte after white space begins an object, an array or a string. */
export function beginsDocument(bytes: Uint8Array, start: number, end: number): boolean {
  let p = start;
  while (p < end && whiteSpace.has(bytes[p] as number)) {
    p++;
  }
  return p < end && documentFirstBytes.has(bytes[p] as number);
}
