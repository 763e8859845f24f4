/** The rooms inside one package: which of its folders may import which. */
import { dirname, join, relative, resolve } from "node:path";
import { findCycles } from "./cycles.mjs";
import { importsOfFile } from "./imports.mjs";

/** @typedef {import("./room-table.mjs").RoomTable} RoomTable */

/**
 * What the files of a package import against the table of its rooms.
 * @param {string} root the repository
 * @param {string} source the package's src
 * @param {readonly string[]} files
 * @param {RoomTable} table
 * @returns {Generator<string>}
 */
export function* complaintsOfRooms(root, source, files, table) {
  /** @type {Map<string, string[]>} */
  const edges = new Map();
  for (const file of files) {
    const own = roomOf(moduleName(source, file), table);
    if (own === null) {
      yield `${relative(root, file)}: stands in no room. Give it one in scripts/room-table.mjs, or move it into one.`;
      continue;
    }
    for (const one of importsOfFile(file)) {
      if (!one.specifier.startsWith(".")) {
        continue;
      }
      const name = moduleName(source, resolve(dirname(file), one.specifier));
      const target = roomOf(name, table);
      edges.set(own, [...(edges.get(own) ?? []), ...(target === null || target === own ? [] : [target])]);
      if (target !== null && !mayImport(own, target, name, one.typeOnly, table)) {
        yield `${relative(root, file)}:${one.line}: ${refusal(own, target, table)}`;
      }
    }
  }
  for (const cycle of findCycles(edges)) {
    yield `${relative(root, source)}: rooms ${cycle.join(" -> ")} form a cycle.`;
  }
}

/**
 * A file's path below a folder, without its ending.
 * @param {string} folder
 * @param {string} file
 */
export function moduleName(folder, file) {
  return relative(folder, file).replace(/\.[mc]?[jt]s$/, "");
}

/**
 * The room that a module stands in: its layer and format if it is in a format's folder; otherwise the row of the table that holds it.
 * @param {string} name
 * @param {RoomTable} table
 */
function roomOf(name, table) {
  const [first = "", second = "", ...rest] = name.split("/");
  if (table.rooms[first] === undefined) {
    return null;
  }
  return table.layers.includes(first) && rest.length > 0 ? join(first, second) : first;
}

/**
 * @param {string} own
 * @param {string} target
 * @param {string} name the target module
 * @param {boolean} typeOnly
 * @param {RoomTable} table
 */
function mayImport(own, target, name, typeOnly, table) {
  if (own === target) {
    return true;
  }
  const layer = layerOf(own);
  if (own !== layer && target === layer) {
    return true; // a format uses what its layer shares
  }
  if (table.siblings[own]?.includes(target)) {
    return true;
  }
  if (layerOf(target) === layer) {
    return false; // a sibling format, or a layer that knows its formats
  }
  return table.rooms[layer]?.some((allowed) => {
    const [room = "", kind] = allowed.split(":");
    return (name === room || name.startsWith(`${room}/`)) && (kind !== "types" || typeOnly);
  });
}

/** @param {string} room */
function layerOf(room) {
  return room.split("/")[0] ?? room;
}

/**
 * @param {string} own
 * @param {string} target
 * @param {RoomTable} table
 */
function refusal(own, target, table) {
  const layer = layerOf(own);
  if (layerOf(target) === layer) {
    return `${own} must not import ${target}: formats of one layer do not know each other. Move what both need into ${layer}/.`;
  }
  const allowed = table.rooms[layer] ?? [];
  return `${own} must not import ${target}. It may import: ${allowed.length === 0 ? "nothing" : allowed.join(", ")}.`;
}
