select 1; \i a.sql \echo x \\ select 2;
\i a.sql \i b.sql
\i a.sql \\ select 3;
