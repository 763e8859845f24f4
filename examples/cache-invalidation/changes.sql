-- Every second: another price for one of the products.
update shop.products set price = price + 0.01, stock = stock - 1 where id = (select 1 + floor(random() * 20)::int);
