create schema if not exists bank;

create table if not exists bank.payments (
  id bigint primary key,
  account text not null,
  amount numeric(12, 2) not null,
  paid_at timestamp not null
);
