create operator *<>;* (leftarg = int);create operator @-- (rightarg = int)
;select 1;