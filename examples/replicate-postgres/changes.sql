-- Every second: a new order with lines, a change of the one before, the end of an old one, a line under another key, and now and then prices from scratch.
with made as (
  insert into store.orders (customer, net, contract) select 1 + floor(random() * 200), random() * 1000, repeat('new ', 1000) returning id
)
insert into store.order_lines select id, line, 'sku ' || line, 1 + floor(random() * 9), random() from made, generate_series(1, 3) line;
update store.orders set state = 'paid' where id = (select max(id) - 1 from store.orders);
delete from store.orders where id = (select min(id) from store.orders);
update store.order_lines set line = line + 100 where order_id = (select max(order_id) - 1 from store.order_lines) and line < 100;
do $$ begin
  if random() < 0.1 then
    truncate store.prices;
    insert into store.prices select 'sku ' || n, random() * 100 from generate_series(1, 50) n;
  end if;
end $$;
