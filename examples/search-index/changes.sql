-- Every second: a new edition of one of the books.
update shop.books set summary = regexp_replace(summary, ' Edition \d+\.$', '') || ' Edition ' || floor(random() * 90 + 10)::int || '.'
  where id = (select 1 + floor(random() * 6)::int);
