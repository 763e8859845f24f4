/** The table that the services follow, in SQL. It has a row before the connectors start, so that their snapshot makes the topics. */
export const ordersDdl = `
  create schema services;
  create table services.orders (
    id bigint primary key, customer text not null, quantity integer not null, price numeric(12, 4) not null, note text,
    placed_at timestamp not null default now()
  );
  alter table services.orders replica identity full;
  insert into services.orders values (1, 'first', 1, 1.5, null);
`;

export const ordersTable = "services.orders";
