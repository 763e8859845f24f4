create schema if not exists shop;

create table if not exists shop.stock (
  product integer primary key,
  name text not null,
  pieces integer not null
);

-- Updates and deletes carry the row as it was before.
alter table shop.stock replica identity full;
