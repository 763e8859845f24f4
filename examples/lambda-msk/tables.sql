create schema if not exists shop;

create table if not exists shop.payments (
  id bigint primary key,
  customer text not null,
  amount numeric(12, 2) not null
);
