\i a.sql
\.
