\i 'it''s a.sql'
\ir 'it''s a.sql';
\ir 'dir with blank'/b.sql ;
\i   ./c.sql;;
\i 'ta\x62\154e.sql'
\ir é.sql
