create table vouchers (code text primary key);
