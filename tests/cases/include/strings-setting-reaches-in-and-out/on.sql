select 'd\';';
set standard_conforming_strings = on;
