create schema if not exists shop;

create table if not exists shop.products (
  id bigint primary key,
  name text not null,
  price numeric(12, 2) not null,
  stock integer not null
);
