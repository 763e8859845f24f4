-- Every second: a payment. Each fifth is of a customer whose bank is slow to answer.
insert into shop.payments
  select coalesce(max(id), 0) + 1, case when (coalesce(max(id), 0) + 1) % 5 = 0 then 'Mallory' else 'Ada' end, 10.25 from shop.payments;
