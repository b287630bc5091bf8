create index i on doc ((d ? 'a'));
select d ?| array['z','b'], d ?& array['a'], d @? '$.b.c', d #>> '{b,c}', 3 ~?~ 4;