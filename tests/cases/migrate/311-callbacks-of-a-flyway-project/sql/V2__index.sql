create index concurrently customer_name on customer (name);
