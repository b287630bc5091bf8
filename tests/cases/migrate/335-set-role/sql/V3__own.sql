create table app.own (id int);
