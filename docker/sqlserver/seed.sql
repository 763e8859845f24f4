-- 2,000,000 rows in one statement. generate_series came with SQL Server 2022.
use sales;
go
insert into sales.salesorderdetail
  (salesorderid, salesorderdetailid, carriertrackingnumber, orderqty, productid, specialofferid, unitprice, unitpricediscount, linetotal, modifieddate)
select 43659 + value / 8, value + 1, concat('4911-403C-', format(value % 100, '00')), 1 + value % 10, 700 + value % 300, 1, 1 + value % 1000 / 7.0, 0,
  (1 + value % 10) * (1 + value % 1000 / 7.0), dateadd(second, value, '2011-05-31')
from generate_series(0, 1999999);
go
