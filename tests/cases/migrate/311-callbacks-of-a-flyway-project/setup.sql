create role case311_owner;
create role case311_reader;
create schema app authorization case311_owner;
create table public.audit (id serial, what text, who text);
grant insert, select on public.audit to case311_owner;
grant usage on sequence public.audit_id_seq to case311_owner;
