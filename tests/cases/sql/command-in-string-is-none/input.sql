select '\echo a', $$\q$$, "\x"; -- \q
/* \q */ select 1;