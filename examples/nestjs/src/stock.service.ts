import { CdcHandler } from "@cdckit/nestjs";
import { Injectable } from "@nestjs/common";
import type { CreateEvent, DeleteEvent, ReadEvent, UpdateEvent } from "cdckit";
import { logger } from "./logger.js";

export interface Stock {
  readonly product: number;
  readonly name: string;
  readonly pieces: number;
}

/** Fewer pieces than these are few. */
const few = 10;

/** What is in stock, from the changes of the table. */
@Injectable()
export class StockService {
  readonly #byProduct = new Map<number, Stock>();

  all(): readonly Stock[] {
    return [...this.#byProduct.values()].toSorted((one, other) => one.product - other.product);
  }

  @CdcHandler("shop.stock", ["read", "create"])
  known({ after }: ReadEvent<Stock> | CreateEvent<Stock>): void {
    this.#byProduct.set(after.product, after);
  }

  @CdcHandler("shop.stock", "update")
  changed({ before, after }: UpdateEvent<Stock>): void {
    this.#byProduct.set(after.product, after);
    if (after.pieces < few && (before?.pieces ?? few) >= few) {
      logger.warn({ product: after.product, name: after.name, pieces: after.pieces }, "few are left");
    }
  }

  @CdcHandler("shop.stock", "delete")
  gone({ key }: DeleteEvent<Stock, Pick<Stock, "product">>): void {
    if (key !== null) {
      this.#byProduct.delete(key.product);
    }
  }
}
