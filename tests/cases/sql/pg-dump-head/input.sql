--
-- PostgreSQL database dump
--

\restrict AbC123

-- Dumped from database version 15.18

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);

--
-- Name: a; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.a (
    b text DEFAULT 'x'::text
);


COPY public.a (b) FROM stdin;
a;b
\N
\.


\unrestrict AbC123

