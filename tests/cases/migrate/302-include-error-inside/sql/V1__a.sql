create table a (id int);
\ir parts/broken.sql
