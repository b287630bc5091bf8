alter type order_status add value 'returned' after 'shipped';

alter table orders add column note text;
comment on column orders.note is 'what the customer wrote; may hold ; and ''quotes''';
