\i a.sql
