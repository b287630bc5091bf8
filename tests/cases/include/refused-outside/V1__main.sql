\i ../nested/c.sql
\ir ../../../README.md
\i /etc/passwd
\i sub/../../nested/c.sql
