create function f() returns int begin atomic select 1;
