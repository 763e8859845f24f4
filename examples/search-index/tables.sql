create schema if not exists shop;

create table if not exists shop.books (
  id bigint primary key,
  title text not null,
  author text not null,
  summary text not null
);

-- Without it, an update does not carry a long summary that has not changed.
alter table shop.books replica identity full;
