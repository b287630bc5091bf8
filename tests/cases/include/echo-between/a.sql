\qecho from a
select 'a';
