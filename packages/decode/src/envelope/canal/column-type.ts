/**
 * MySQL's type of a column. Canal writes the type as the table's DDL states it, where `bit` stands for `bit(1)`. TiCDC writes the same
 * messages (`isCanal` is then false), and never states the length of a `bit`.
 */
export function columnType(type: string, isCanal: boolean): string {
  return isCanal && type.length === bit.length && type.toLowerCase() === bit ? "bit(1)" : type;
}

const bit = "bit";
