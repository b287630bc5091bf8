\restrict key
\i a.sql
\echo x
\unrestrict key
