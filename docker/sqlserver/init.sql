-- The same table as in ../postgres/init.sql, and capturing of its changes. It is run at every start.
if db_id('sales') is null create database sales;
go
alter database sales set allow_snapshot_isolation on; -- the connector's snapshot locks nothing
go
use sales;
go
if schema_id('sales') is null exec('create schema sales');
go
if object_id('sales.salesorderdetail') is null
create table sales.salesorderdetail (
  id bigint identity primary key,
  salesorderid int not null,
  salesorderdetailid int not null,
  carriertrackingnumber varchar(25),
  orderqty smallint not null,
  productid int not null,
  specialofferid int not null,
  unitprice decimal(19, 4) not null,
  unitpricediscount decimal(19, 4) not null default 0.0,
  linetotal decimal(38, 6) not null,
  rowguid uniqueidentifier not null default newid(),
  modifieddate datetime2(6) not null
);
go
if (select is_cdc_enabled from sys.databases where name = 'sales') = 0 exec sys.sp_cdc_enable_db;
go
if (select is_tracked_by_cdc from sys.tables where object_id = object_id('sales.salesorderdetail')) = 0
exec sys.sp_cdc_enable_table @source_schema = 'sales', @source_name = 'salesorderdetail', @role_name = null;
go
