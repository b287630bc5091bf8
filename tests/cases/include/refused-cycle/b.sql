  \i a.sql
