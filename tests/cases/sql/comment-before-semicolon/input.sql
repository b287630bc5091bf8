select 1 -- last
;select 2 /* last */ ;