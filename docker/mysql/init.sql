-- The same table as in ../postgres/init.sql, and the rights that Debezium needs.
create table if not exists sales.salesorderdetail (
  id bigint not null auto_increment primary key,
  salesorderid int not null,
  salesorderdetailid int not null,
  carriertrackingnumber varchar(25),
  orderqty smallint not null,
  productid int not null,
  specialofferid int not null,
  unitprice decimal(19, 4) not null,
  unitpricediscount decimal(19, 4) not null default 0.0,
  linetotal decimal(38, 6) not null,
  rowguid char(36) not null,
  modifieddate datetime(6) not null
);

grant select, reload, show databases, replication slave, replication client on *.* to 'cdckit'@'%';
