create table orders (number bigint not null, customer bigint not null references customers, day date not null);
insert into orders values (10, 1, '2026-01-01'), (10, 2, '2026-01-02'), (11, 2, '2026-01-02');
