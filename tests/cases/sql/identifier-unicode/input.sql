create table U&"d\0061t;a" (v text, u&"k;""ey" bit(4));
insert into "dat;a" values (1);