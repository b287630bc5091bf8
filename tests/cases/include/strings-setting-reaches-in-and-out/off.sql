set standard_conforming_strings = off;
\i use.sql
