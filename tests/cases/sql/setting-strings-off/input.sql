set standard_conforming_strings = off;
select 'it\'s;', '\\', U&"a;", E'\'';
set standard_conforming_strings = on;
select '\';select 1;