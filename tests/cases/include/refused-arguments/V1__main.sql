\i
\i ;
\i ''
\i a.sql -- comment
\i :file
\i `ls`
\i "a.sql"
\i 'a.sql
\i 'a\nb.sql'
\echo 'x
\echo :x
