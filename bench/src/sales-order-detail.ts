/** A row of the recorded table, as our decoder gives it and, in the same fields, as the peers do. */
export interface SalesOrderDetail {
  readonly id: number;
  readonly salesorderid: number;
  readonly salesorderdetailid: number;
  readonly carriertrackingnumber: string | null;
  readonly orderqty: number;
  readonly productid: number;
  readonly specialofferid: number;
  readonly unitprice: { readonly length: number };
  readonly unitpricediscount: { readonly length: number };
  readonly linetotal: { readonly length: number };
  readonly rowguid: string;
  readonly modifieddate: unknown;
}

/** Reads every column of a row, and returns something that depends on them all. */
export function readRow(row: SalesOrderDetail | null): number {
  if (row === null) {
    return 0;
  }
  return (
    (row.id === 0 ? 0 : 1) +
    (row.salesorderid === 0 ? 0 : 1) +
    (row.salesorderdetailid === 0 ? 0 : 1) +
    (row.carriertrackingnumber === null ? 0 : row.carriertrackingnumber.length) +
    (row.orderqty === 0 ? 0 : 1) +
    (row.productid === 0 ? 0 : 1) +
    (row.specialofferid === 0 ? 0 : 1) +
    row.unitprice.length +
    row.unitpricediscount.length +
    row.linetotal.length +
    row.rowguid.length +
    (row.modifieddate === null ? 0 : 1)
  );
}
