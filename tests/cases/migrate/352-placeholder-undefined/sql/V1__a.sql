create table a (x int default ${zero:0});
