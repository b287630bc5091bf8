create table c (id int);
\unrestrict abcDEF123
