-- Every second: a new order detail, a change of the one before it, and the end of the one before that.
insert into sales.salesorderdetail (salesorderid, salesorderdetailid, orderqty, productid, specialofferid, unitprice, linetotal, rowguid, modifieddate)
  select 43659, 1, qty, 707, 1, 4.99, qty * 4.99, gen_random_uuid(), now() from (select 1 + floor(random() * 9)::smallint as qty) as detail;
update sales.salesorderdetail set orderqty = orderqty + 1
  where id = (select id from sales.salesorderdetail order by id desc offset 1 limit 1);
delete from sales.salesorderdetail
  where id = (select id from sales.salesorderdetail order by id desc offset 2 limit 1);
