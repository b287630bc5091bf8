-- it's
select 1; /* it's "so" $$ */ select 2;