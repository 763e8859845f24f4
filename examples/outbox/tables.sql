create schema if not exists outbox;

create table if not exists outbox.orders (
  id bigint generated always as identity primary key,
  customer text not null,
  total numeric(12, 2) not null,
  state text not null default 'placed'
);

-- The columns have the names that Debezium's outbox event router expects.
create table if not exists outbox.events (
  id uuid primary key default gen_random_uuid(),
  aggregatetype text not null,
  aggregateid text not null,
  type text not null,
  payload jsonb not null
);
