import { SeededRandom } from "../seeded-random.ts";
import { boolean, int32, int64, list, record, type RecordShape, string } from "./shape.ts";

/** A row of a data set: what `JSON.parse` gives of it. */
export type Row = Readonly<Record<string, unknown>>;

/** Rows of one shape, and how the published benchmark measured them. */
export interface DataSet {
  readonly name: string;
  /** What it is, for the head of a table. */
  readonly title: string;
  readonly shape: RecordShape;
  readonly rows: readonly Row[];
}

/** A data set that is made from a seed. */
export interface SeededDataSet {
  readonly title: string;
  /** So many rows has the published benchmark. */
  readonly rows: number;
  readonly shape: RecordShape;
  row(random: SeededRandom, index: number): Row;
}

const firstNames = ["Ada", "Björn", "Chidi", "Dana", "Emre", "Fatima", "Goran", "Hiroko", "Ines", "Jürgen", "Kwame", "Łucja"] as const;
const lastNames = [
  "Abe",
  "Brandt",
  "Costa",
  "Dubois",
  "Eriksson",
  "Fischer",
  "García",
  "Hoang",
  "Ivanov",
  "Jensen",
  "Kim",
  "Lopez",
] as const;
const streets = [
  "Oak Street",
  "Lindenallee",
  "Rue Pasteur",
  "Via Roma",
  "Calle Mayor",
  "Station Road",
  "Kirchweg",
  "Market Square",
] as const;
const cities = ["Berlin", "Lyon", "Porto", "Gdańsk", "Bergen", "Graz", "Leeds", "Bologna"] as const;

const addressBook: SeededDataSet = {
  title: "address book: people with their phones",
  rows: 100_000,
  shape: record("Person", { name: string, id: int32, email: string, phones: list(record("Phone", { number: string, type: int32 })) }),
  row(random, index) {
    const [first, last] = [random.pick(firstNames), random.pick(lastNames)];
    const phones = Array.from({ length: random.integer(1, 3) }, () => ({
      number: `+${random.integer(1, 99)} ${random.integer(100, 999)} ${random.integer(1_000_000, 9_999_999)}`,
      type: random.integer(0, 2),
    }));
    return {
      name: `${first} ${last}`,
      id: index + 1,
      email: `${first}.${last}.${random.integer(1, 9_999)}@example.org`.toLowerCase(),
      phones,
    };
  },
};

const userList: SeededDataSet = {
  title: "user list: the answer of an API, 10 MB of JSON",
  rows: 92_000,
  shape: record("User", { Id: int32, IsActive: boolean, Name: string, Age: int32, Address: string }),
  row(random, index) {
    return {
      Id: index + 1,
      IsActive: random.next() < 0.7,
      Name: `${random.pick(firstNames)} ${random.pick(lastNames)}`,
      Age: random.integer(18, 90),
      Address: `${random.integer(1, 240)} ${random.pick(streets)}, ${random.integer(10_000, 99_999)} ${random.pick(cities)}`,
    };
  },
};

const ratings: SeededDataSet = {
  title: "rating payload: one object of about 3 kB",
  rows: 1,
  shape: record("UserRating", { userId: string, ratings: list(record("Rating", { movieId: string, rating: int32 })) }),
  row(random) {
    const rated = Array.from({ length: 81 }, () => ({ movieId: String(random.integer(100_000, 999_999)), rating: random.integer(1, 5) }));
    return { userId: random.hex(24), ratings: rated };
  },
};

const salesOrderDetail: SeededDataSet = {
  title: "sales order detail: rows of a table",
  rows: 100_000,
  shape: record("SalesOrderDetail", {
    salesorderid: int32,
    salesorderdetailid: int32,
    carriertrackingnumber: string,
    orderqty: int32,
    productid: int32,
    specialofferid: int32,
    unitprice: string,
    unitpricediscount: string,
    linetotal: string,
    rowguid: string,
    modifieddate: int64,
  }),
  row(random, index) {
    const quantity = random.integer(1, 20);
    const cents = random.integer(199, 350_000);
    return {
      salesorderid: 43_659 + Math.floor(index / 4),
      salesorderdetailid: index + 1,
      carriertrackingnumber: `${random.hex(4)}-${random.hex(4)}-${random.hex(2)}`.toUpperCase(),
      orderqty: quantity,
      productid: random.integer(700, 999),
      specialofferid: random.integer(1, 16),
      unitprice: (cents / 100).toFixed(4),
      unitpricediscount: "0.0000",
      linetotal: ((quantity * cents) / 100).toFixed(6),
      rowguid: `${random.hex(8)}-${random.hex(4)}-${random.hex(4)}-${random.hex(4)}-${random.hex(12)}`,
      modifieddate: 1_306_800_000_000_000 + index * 1_000_000,
    };
  },
};

/** The data sets of the published benchmarks, by the name that `--suite` takes. */
export const seededDataSets: Readonly<Record<string, SeededDataSet>> = {
  soa: addressBook,
  "avro-api": userList,
  ratings,
  "sales-order-detail": salesOrderDetail,
};

/** The rows that the seed gives: the same ones whenever it is the same seed. */
export function createDataSet(name: string, set: SeededDataSet, rows: number, seed: number): DataSet {
  const random = new SeededRandom(seed);
  return { name, title: set.title, shape: set.shape, rows: Array.from({ length: rows }, (_, index) => set.row(random, index)) };
}
