-- What Debezium's snapshot finds.
insert into store.customers (id, name, email, country, balance, ratio, score, joined, born, wakes_at, patience, address, ref, profile, raw_profile,
    tags, lucky, photo, place, is_active)
  select n, 'Zoë ' || n, 'zoe' || n || '@example.org', 'NL', n * 1234567.123456, n / 3.0, n / 7.0, timestamptz '2024-02-29 12:00:00.123456+02' - n * interval '1 hour',
    date '1969-12-31' + n, time '00:00:00.5' + n * interval '7 minutes', n * interval '1 day 02:03:04.5', ('10.0.' || n % 256 || '.1')::inet,
    md5(n::text)::uuid, jsonb_build_object('id', 9007199254740993 + n, 'deep', jsonb_build_array(1.10, null, 'é')), ('{"b": ' || n || ',  "a": 1.0}')::json,
    array['a"b', null, '\', n::text], array[9007199254740993 + n, null], decode(md5(n::text), 'hex'), point(n, 0.1), n % 2 = 0
  from generate_series(1, 200) n
  on conflict do nothing;
insert into store.customers (id, name) values (9007199254740993, 'with nothing but a large key') on conflict do nothing;
select setval(pg_get_serial_sequence('store.customers', 'id'), greatest(1000, (select max(id) from store.customers where id < 1000000000)));

insert into store.orders (customer, placed_at, net, contract)
  select 1 + n % 200, timestamp '1969-12-31 23:59:59.999999' + n * interval '1 day', n * 0.01, repeat('clause ' || n || ' ', 500)
  from generate_series(1, 500) n
  where not exists (select from store.orders);
insert into store.order_lines
  select n, line, 'sku ' || line, n, n * 0.0000000001 from generate_series(1, 500) n, generate_series(1, 3) line
  on conflict do nothing;
insert into store.prices select 'sku ' || n, n * 1.5, tstzrange('2026-01-01 00:00Z', null) from generate_series(1, 50) n on conflict do nothing;
