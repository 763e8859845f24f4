import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from "node:fs";
import { dirname, join, relative, isAbsolute } from "node:path";
import { inflateRawSync } from "node:zlib";
import { StackError } from "./stack-error.mjs";

const endLength = 22;
const endSignature = 0x06_05_4b_50;
const stored = 0;
const deflated = 8;

/** @typedef {{ readonly name: string, readonly method: number, readonly packedLength: number, readonly length: number, readonly offset: number }} Entry */

/**
 * Unpacks the files of a zip (a jar is one) whose names begin with `prefix`, without it: not every machine has `unzip`.
 * @param {string} archive
 * @param {string} prefix
 * @param {string} folder
 */
export function unpackZip(archive, prefix, folder) {
  const fd = openSync(archive, "r");
  try {
    for (const entry of entriesOf(fd, archive)) {
      if (!entry.name.startsWith(prefix) || entry.name.endsWith("/")) continue;
      const file = join(folder, entry.name.slice(prefix.length));
      if (isOutside(folder, file)) throw new StackError("jar-mismatch", `${archive}: ${entry.name} is outside of the archive`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, contentOf(fd, entry));
    }
  } finally {
    closeSync(fd);
  }
}

/** @param {string} folder @param {string} file */
function isOutside(folder, file) {
  const path = relative(folder, file);
  return path.startsWith("..") || isAbsolute(path);
}

/** The central directory at the end of the file. @param {number} fd @param {string} archive @returns {Entry[]} */
function entriesOf(fd, archive) {
  const { size } = fstatSync(fd);
  const end = read(fd, size - endLength, endLength);
  if (end.readUInt32LE(0) !== endSignature) throw new StackError("jar-mismatch", `${archive} does not end as a zip without a comment does`);
  const directory = read(fd, end.readUInt32LE(16), end.readUInt32LE(12));
  /** @type {Entry[]} */
  const entries = [];
  for (let at = 0; at < directory.length; ) {
    const nameLength = directory.readUInt16LE(at + 28);
    entries.push({
      name: directory.toString("utf8", at + 46, at + 46 + nameLength),
      method: directory.readUInt16LE(at + 10),
      packedLength: directory.readUInt32LE(at + 20),
      length: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

/** @param {number} fd @param {Entry} entry */
function contentOf(fd, { name, method, packedLength, length, offset }) {
  const header = read(fd, offset, 30);
  const packed = read(fd, offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28), packedLength);
  if (method === stored) return packed;
  if (method === deflated) return inflateRawSync(packed, { maxOutputLength: Math.max(1, length) });
  throw new StackError("jar-mismatch", `${name} is compressed with method ${method}, which nothing here reads`);
}

/** @param {number} fd @param {number} position @param {number} length */
function read(fd, position, length) {
  const bytes = Buffer.alloc(length);
  readSync(fd, bytes, 0, length, position);
  return bytes;
}
