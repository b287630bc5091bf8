copy price from stdin with (format csv, delimiter ';', header true);
sku;cents
A-1;250
\.
