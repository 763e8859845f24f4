-- Every second: pieces of a product are sold, and more come when there are few.
update shop.stock set pieces = case when pieces < 5 then pieces + 50 else pieces - 1 - floor(random() * 5)::int end
  where product = 1 + floor(random() * 3)::int;
