-- Data as pg_dump writes it: columns separated by tabs, ended by a backslash and a dot.

copy products (sku, name, price_cents) from stdin;
MUG-01	Mug; blue	1250
TEA-07	Earl Grey, 250 g	990
POT-02	Teapot "Größe M"	4900
\.
