-- The last one is more than the service takes.
insert into shop.orders values
  (1, 'Ada', 2, 10.50, '2026-01-31 08:00:00.5'),
  (2, 'Grace', 5, 3.20, '2026-01-31 08:05:00'),
  (3, 'Katherine', 12, 99.00, '2026-01-31 08:10:00'),
  (4, 'Margaret', 5000, 0.10, '2026-01-31 08:15:00')
  on conflict do nothing;
