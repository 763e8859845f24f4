import type { Envelope, EnvelopeKey, EnvelopeSource } from "../envelope.ts";
import type { SalesOrderRow } from "../sales-order-row.ts";

/**
 * The payload as Connect's JSON converter writes it: every field, in the schema's order, bytes and decimals in base64. Written by hand,
 * because `JSON.stringify` knows no 64-bit integers.
 */
export function envelopeText({ before, after, source, transaction, op, ts_ms, ts_us, ts_ns }: Envelope): string {
  const block =
    transaction === null
      ? "null"
      : `{"id":${text(transaction.id)},"total_order":${transaction.total_order},"data_collection_order":${transaction.data_collection_order}}`;
  return `{"before":${rowText(before)},"after":${rowText(after)},"source":${sourceText(source)},"transaction":${block},"op":"${op}","ts_ms":${ts_ms},"ts_us":${ts_us},"ts_ns":${ts_ns}}`;
}

export function keyText({ id }: EnvelopeKey): string {
  return `{"id":${id}}`;
}

function rowText(row: SalesOrderRow | null): string {
  if (row === null) {
    return "null";
  }
  const bytes = (value: Buffer): string => value.toString("base64");
  return (
    `{"id":${row.id},"salesorderid":${row.salesorderid},"salesorderdetailid":${row.salesorderdetailid},` +
    `"carriertrackingnumber":${text(row.carriertrackingnumber)},"orderqty":${row.orderqty},"productid":${row.productid},` +
    `"specialofferid":${row.specialofferid},"unitprice":"${bytes(row.unitprice)}","unitpricediscount":"${bytes(row.unitpricediscount)}",` +
    `"linetotal":"${bytes(row.linetotal)}","rowguid":${text(row.rowguid)},"modifieddate":${row.modifieddate}}`
  );
}

function sourceText(source: EnvelopeSource): string {
  return (
    `{"version":${text(source.version)},"connector":${text(source.connector)},"name":${text(source.name)},"ts_ms":${source.ts_ms},` +
    `"snapshot":${text(source.snapshot)},"db":${text(source.db)},"sequence":${text(source.sequence)},"ts_us":${source.ts_us},` +
    `"ts_ns":${source.ts_ns},"schema":${text(source.schema)},"table":${text(source.table)},"txId":${source.txId},"lsn":${source.lsn},` +
    `"xmin":${source.xmin},"origin":${text(source.origin)},"origin_lsn":${source.origin_lsn}}`
  );
}

/** What JSON need not escape. */
const plain = /^[ !#-[\]-~]*$/;

function text(value: string | null): string {
  return value !== null && plain.test(value) ? `"${value}"` : JSON.stringify(value);
}
