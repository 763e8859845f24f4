-- Every second: a new parcel, two that go on, and in the end one that leaves the page.
insert into shop.parcels
  select coalesce(max(id), 0) + 1, (array['Ada', 'Grace', 'Katherine', 'Margaret', 'Radia', 'Barbara'])[1 + floor(random() * 6)::int],
    (array['Basel', 'Lyon', 'Porto', 'Graz', 'Turku', 'Ghent'])[1 + floor(random() * 6)::int], 'packed' from shop.parcels;
update shop.parcels set state = 'delivered'
  where id = (select id from shop.parcels where state = 'sent' order by random() limit 1) and (select count(*) from shop.parcels) > 6;
update shop.parcels set state = 'sent'
  where id = (select id from shop.parcels where state = 'packed' order by random() limit 1) and (select count(*) from shop.parcels) > 3;
delete from shop.parcels
  where id = (select min(id) from shop.parcels where state = 'delivered') and (select count(*) from shop.parcels) > 15;
