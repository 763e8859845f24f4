create schema if not exists shop;

create table if not exists shop.orders (
  id integer primary key,
  customer text not null,
  quantity integer not null,
  price numeric(12, 2) not null,
  placed_at timestamp not null
);

alter table shop.orders replica identity full;
