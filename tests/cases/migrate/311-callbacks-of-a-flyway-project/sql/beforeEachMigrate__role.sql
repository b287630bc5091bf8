set role case311_owner;
set search_path = app, public;
