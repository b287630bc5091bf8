create function f() returns int begin -- end;
 atomic /* end; */ select 'end;', "end;"; end;select 1;