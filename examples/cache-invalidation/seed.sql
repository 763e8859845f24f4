insert into shop.products
  select n, (array['bolt', 'nut', 'washer', 'screw', 'hinge'])[1 + n % 5] || ' ' || n, n * 1.25, 10 * n from generate_series(1, 20) as n
  on conflict do nothing;
