-- Every second: a new payment, a correction of the one before, and the end of the one before that.
insert into bank.payments select 9007199254740993 + floor(extract(epoch from now()))::bigint, 'NL04', round(random()::numeric * 100, 2), now()
  on conflict do nothing;
update bank.payments set amount = amount + 0.01 where id = (select id from bank.payments order by id desc offset 1 limit 1);
delete from bank.payments where id = (select id from bank.payments where account = 'NL04' order by id desc offset 2 limit 1);
