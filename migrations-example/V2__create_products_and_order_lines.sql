create table products (
    sku text primary key,
    name text not null,
    price_cents integer not null check (price_cents >= 0)
);

create table order_lines (
    order_id bigint not null references orders (id) on delete cascade,
    sku text not null references products (sku),
    quantity integer not null check (quantity > 0),
    price_cents integer not null,
    primary key (order_id, sku)
);
