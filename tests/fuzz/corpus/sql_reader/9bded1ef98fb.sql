set standard_conforming_strings = off;
select '\';', E'\'';reset standard_conforming_strings;select '\';