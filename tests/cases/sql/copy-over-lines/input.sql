copy t
  (a,
   b)
from
  stdin
;
1
\.
select 1;