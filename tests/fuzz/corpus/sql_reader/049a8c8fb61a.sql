\restrict a
\echo a 'b\'c' \\ select 1 \i x
;
\unrestrict a
