-- 2,000,000 rows in one statement, in 20 seconds or so; `set @rows` before it for another number.
set @rows = coalesce(@rows, 2000000);

insert into sales.salesorderdetail
  (salesorderid, salesorderdetailid, carriertrackingnumber, orderqty, productid, specialofferid, unitprice, unitpricediscount, linetotal, rowguid, modifieddate)
with digits (d) as (
  select 0 union all select 1 union all select 2 union all select 3 union all select 4
  union all select 5 union all select 6 union all select 7 union all select 8 union all select 9
),
numbers (n) as (
  select a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d + 100000 * f.d + 1000000 * g.d
  from digits a, digits b, digits c, digits d, digits e, digits f, digits g
  where g.d < 2
)
select 43659 + n div 8, n + 1, concat('4911-403C-', lpad(n % 100, 2, '0')), 1 + n % 10, 700 + n % 300, 1, 1 + n % 1000 / 7, 0,
  (1 + n % 10) * (1 + n % 1000 / 7), uuid(), timestampadd(second, n, '2011-05-31 00:00:00')
from numbers
where n < @rows;
