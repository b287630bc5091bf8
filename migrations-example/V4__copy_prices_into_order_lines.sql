-- An order keeps the price of its day: a later change of the product's price does not touch it.

create function copy_price() returns trigger
language plpgsql
as $$
begin
    if new.price_cents is null then
        select price_cents into strict new.price_cents
        from products
        where sku = new.sku;
    end if;
    return new;
end;
$$;

create trigger copy_price before insert on order_lines
for each row execute function copy_price();
