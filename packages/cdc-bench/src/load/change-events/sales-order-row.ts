import { SeededRandom } from "../../seeded-random.ts";

/** A row of the published table (sales order detail), in the types of Connect: decimals are unscaled, two's complement, big-endian. */
export interface SalesOrderRow {
  readonly id: number;
  readonly salesorderid: number;
  readonly salesorderdetailid: number;
  readonly carriertrackingnumber: string | null;
  readonly orderqty: number;
  readonly productid: number;
  readonly specialofferid: number;
  /** Decimal(19, 4). */
  readonly unitprice: Buffer;
  /** Decimal(19, 4). */
  readonly unitpricediscount: Buffer;
  /** Decimal(38, 6). */
  readonly linetotal: Buffer;
  readonly rowguid: string;
  /** Microseconds since 1970. */
  readonly modifieddate: number;
}

const firstOrder = 43_659;
const firstProduct = 700;
const firstDateUs = 1_306_800_000_000_000; // 2011-05-31, as in the recorded table
const minuteUs = 60_000_000;
const noDiscount = Buffer.from([0]);

/**
 * The row with this id (from 1) after so many updates. It is the recorded table's row, column by column; only `rowguid`, which the database
 * made at random, comes from the seed.
 */
export function salesOrderRow(seed: number, id: number, updates = 0): SalesOrderRow {
  const orderqty = ((id + updates * 7) % 20) + 1;
  return {
    id,
    salesorderid: firstOrder + Math.floor(id / 10),
    salesorderdetailid: id,
    carriertrackingnumber: id % 3 === 0 ? null : `4911-403C-${(id % 256).toString(16).padStart(2, "0")}`,
    orderqty,
    productid: firstProduct + (id % 300),
    specialofferid: ((id + updates) % 16) + 1,
    unitprice: unscaled(Math.round((id * 1e4) / 7)),
    unitpricediscount: noDiscount,
    linetotal: unscaled(Math.round((id * orderqty * 1e6) / 7)),
    rowguid: uuidOf(seed, id),
    modifieddate: firstDateUs + id * minuteUs + updates * 1_000_000,
  };
}

/** The shortest two's complement of a whole number that is not negative, as Java's BigInteger writes it. */
export function unscaled(value: number): Buffer {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 256)) {
    length++;
  }
  const bytes = Buffer.allocUnsafe(length);
  for (let i = length - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 256)) {
    bytes[i] = rest % 256;
  }
  return bytes;
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Version 4. Made of a table of texts: it is the dearest column otherwise. */
function uuidOf(seed: number, id: number): string {
  const random = new SeededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(id, 0x85ebca6b));
  const bits = (): number => Math.floor(random.next() * 0x1_0000_0000);
  const [a, b, c, d] = [bits(), (bits() & 0xffff_0fff) | 0x4000, (bits() & 0x3fff_ffff) | 0x8000_0000, bits()];
  return `${high(a)}${low(a)}-${high(b)}-${low(b)}-${high(c)}-${low(c)}${high(d)}${low(d)}`;
}

function high(bits: number): string {
  return `${hexOfByte[bits >>> 24]}${hexOfByte[(bits >>> 16) & 0xff]}`;
}

function low(bits: number): string {
  return `${hexOfByte[(bits >>> 8) & 0xff]}${hexOfByte[bits & 0xff]}`;
}
