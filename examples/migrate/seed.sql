-- Two keys above 2^53 that are one number in JavaScript.
insert into bank.payments values
  (1, 'NL01', 10.50, '2026-01-31 08:00:00.000001'),
  (9007199254740992, 'NL02', 20.25, '2026-01-31 08:05:00'),
  (9007199254740993, 'NL03', 0.10, '2026-01-31 08:10:00.5')
  on conflict do nothing;
