-- A shop: who buys, and what was ordered.

create type order_status as enum ('placed', 'paid', 'shipped', 'cancelled');

create table customers (
    id bigint generated always as identity primary key,
    email text not null unique,
    name text not null,
    created_at timestamptz not null default now()
);

create table orders (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customers (id),
    status order_status not null default 'placed',
    placed_at timestamptz not null default now()
);
