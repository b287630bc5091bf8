SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
CREATE TABLE public.customers (
    id bigint NOT NULL,
    name text NOT NULL
);
CREATE TABLE public.forgotten (
);
CREATE TABLE public.lockstep_history (
    rank bigint NOT NULL,
    version text,
    description text NOT NULL,
    kind text NOT NULL,
    script text NOT NULL,
    checksum text NOT NULL,
    state text NOT NULL,
    run_id uuid NOT NULL,
    installed_by text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    duration_ms bigint DEFAULT 0 NOT NULL,
    statements_done bigint DEFAULT 0 NOT NULL,
    tool_version text NOT NULL
);
CREATE TABLE public.orders (
    number bigint NOT NULL,
    customer bigint NOT NULL,
    day date NOT NULL
);
INSERT INTO public.customers VALUES (1, 'Ada');
INSERT INTO public.customers VALUES (2, 'Grace');
INSERT INTO public.lockstep_history VALUES (2, '1', 'customers', 'versioned', 'V1__customers.sql', 'sha256:9ab785a99d395352f4ec504303f941bda37b918323c392e600e09d3eb0212749', 'applied', '451f8c53-3053-467b-967e-fcc62dbdffc3', 'postgres', '2026-11-30 02:35:44.262082+00', '2026-11-30 02:35:44.268746+00', 7, 2, '0.1.0');
INSERT INTO public.lockstep_history VALUES (1, '0.5', 'forgotten', 'versioned', 'V0.5__forgotten.sql', 'sha256:d348bd7d07f50e72aafa1351f23b775c0879af5bbfa00c64750dac81e63ea6b9', 'deleted', '451f8c53-3053-467b-967e-fcc62dbdffc3', 'postgres', '2026-11-30 02:35:44.246882+00', '2026-11-30 02:35:44.252488+00', 6, 1, '0.1.0');
INSERT INTO public.lockstep_history VALUES (3, '2', 'orders', 'versioned', 'V2__orders.sql', 'sha256:a91271f3e885554907008b17fe28b6adcad25d632992cf7c9161b8e9e64f2c6d', 'undone', '451f8c53-3053-467b-967e-fcc62dbdffc3', 'postgres', '2026-11-30 02:35:44.280699+00', '2026-11-30 02:35:44.282522+00', 2, 2, '0.1.0');
INSERT INTO public.lockstep_history VALUES (4, '2', 'orders', 'undo', 'U2__orders.sql', 'sha256:0a10cd1430c945e4f2344ef4e1ddad6bb633737d232317612f127ee470a4634f', 'undone', 'a354729c-a233-40ff-b61e-7f8fb8e4320e', 'postgres', '2026-11-30 02:35:44.613155+00', '2026-11-30 02:35:44.614517+00', 1, 1, '0.1.0');
INSERT INTO public.lockstep_history VALUES (5, '2', 'orders', 'versioned', 'V2__orders.sql', 'sha256:a91271f3e885554907008b17fe28b6adcad25d632992cf7c9161b8e9e64f2c6d', 'applied', '88e3fa43-0e1e-43aa-a585-014066889f73', 'postgres', '2026-11-30 02:35:44.742705+00', '2026-11-30 02:35:44.74503+00', 2, 2, '0.1.0');
INSERT INTO public.lockstep_history VALUES (6, '3', 'indexes', 'versioned', 'V3__indexes.sql', 'sha256:0463563f5bd5d83ca38c62632670028ccb7256a92a40f92515e05bacc0370570', 'failed', '88e3fa43-0e1e-43aa-a585-014066889f73', 'postgres', '2026-11-30 02:35:44.764939+00', '2026-11-30 02:35:44.904254+00', 139, 1, '0.1.0');
INSERT INTO public.orders VALUES (10, 1, '2026-01-01');
INSERT INTO public.orders VALUES (10, 2, '2026-01-02');
INSERT INTO public.orders VALUES (11, 2, '2026-01-02');
ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.lockstep_history
    ADD CONSTRAINT lockstep_history_pkey PRIMARY KEY (rank);
CREATE UNIQUE INDEX lockstep_history_version_idx ON public.lockstep_history USING btree (version) WHERE (state <> ALL (ARRAY['deleted'::text, 'undone'::text]));
CREATE INDEX orders_customer ON public.orders USING btree (customer);
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_customer_fkey FOREIGN KEY (customer) REFERENCES public.customers(id);
