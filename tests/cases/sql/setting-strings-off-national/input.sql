set standard_conforming_strings to off;
select n'\';', b'\';select 1;