\restrict abcDEF123
create table a (id int);
\unrestrict abcDEF124
