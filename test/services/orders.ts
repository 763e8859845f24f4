import { z } from "zod";

/** A row of services.orders, as events carry it: decimals as text with their scale, timestamps as text without a zone. */
export const Order = z.object({
  id: z.number().int(),
  customer: z.string().min(1),
  quantity: z.number().int(),
  price: z.string().regex(/^\d+\.\d{4}$/),
  note: z.string().nullable(),
  placed_at: z.string(),
});

export const OrderKey = z.object({ id: z.number().int() });

export type Order = z.infer<typeof Order>;
export type OrderKey = z.infer<typeof OrderKey>;

/** For `createConsumer<Tables>`: handlers and streams know the rows of each table. */
export interface Tables {
  "services.orders": { readonly row: Order; readonly key: OrderKey };
}
