create schema if not exists shop;

create table if not exists shop.parcels (
  id bigint primary key,
  customer text not null,
  city text not null,
  state text not null check (state in ('packed', 'sent', 'delivered'))
);

-- Updates and deletes carry the row as it was before, which the page shows.
alter table shop.parcels replica identity full;
