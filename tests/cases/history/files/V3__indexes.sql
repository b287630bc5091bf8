create index concurrently orders_customer on orders (customer);
create unique index concurrently orders_number on orders (number);
create index concurrently orders_day on orders (day);
