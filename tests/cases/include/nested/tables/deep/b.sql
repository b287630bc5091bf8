select 'b';
\include c.sql
