create table owner (id int primary key);
create table pet (id int, owner int references owner deferrable initially deferred);
