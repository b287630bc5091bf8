select item || ' ' || amount from stock order by item;
