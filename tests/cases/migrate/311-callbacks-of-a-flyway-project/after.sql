drop owned by case311_owner, case311_reader;
