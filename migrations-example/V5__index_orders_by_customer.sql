-- Built without blocking writers. This cannot run in a transaction, so it has a file of its own.
create index concurrently orders_customer_id_idx on orders (customer_id);
