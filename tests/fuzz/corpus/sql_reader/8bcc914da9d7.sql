-- lockstep: transaction=off
-- hello; world
create table a (x int); /* c; /* d */ */ insert into a values (1, E'it\'s; ok'), (2, 'é;') -- tail
;;
select é, ';' from x \echo hi 'a\'b' \\ + 1;
create or replace function f() returns int begin atomic select 1; select case when true then 1 end; end; select 2;
COPY a (x, y) FROM stdin WITH (FORMAT csv, DELIMITER ';'); -- c
1;2
\N

\.
do $tést$ begin perform pg_advisory_unlock(1); end $tést$;
create unique index concurrently if not exists i on a (x);
select $1, a$b$c, 1e5, 0x1f from t where a *-- comment ;
 3;
\restrict abc
ALTER TABLE ONLY public.m DETACH PARTITION public.m1 CONCURRENTLY;
select 'x
