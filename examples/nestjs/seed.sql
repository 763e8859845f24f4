insert into shop.stock values (1, 'bolt', 40), (2, 'nut', 25), (3, 'washer', 8) on conflict do nothing;
