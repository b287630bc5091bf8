#include "support/test_database.h"

#include <iostream>
#include <random>

namespace lockstep::test {
namespace {

std::string random_name() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device device;
  std::uniform_int_distribution<std::size_t> any(0, letters.size() - 1);
  std::string name = "test_";
  for (int i = 0; i < 12; ++i) name += letters[any(device)];
  return name;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

constexpr char field_separator = '\x1f';
constexpr char row_separator = '\x1e';

}  // namespace

TestDatabase::TestDatabase(PgServer& server, std::string_view options)
    : server_(server), name_(random_name()), mark_(server.log_mark()) {
  server_.psql("postgres", "create database " + name_ + " " + std::string(options));
}

TestDatabase::~TestDatabase() {
  try {
    const bool forces = PgServer::version() >= 13;
    if (!forces)
      server_.psql("postgres",
                   "select pg_terminate_backend(pid) from pg_stat_activity where datname = '" + name_ + "'");
    server_.psql("postgres", "drop database " + name_ + (forces ? " with (force)" : ""));
  } catch (const std::exception& error) {
    std::cerr << "cannot drop " << name_ << ": " << error.what() << '\n';
  }
}

std::vector<std::vector<std::string>> TestDatabase::query(std::string_view sql) const {
  const auto text =
      output_of({.argv = {PgServer::program("psql"), "-XAtq", "-F", std::string(1, field_separator), "-R",
                          std::string(1, row_separator), "-v", "ON_ERROR_STOP=1", "-d",
                          server_.conninfo(name_), "-c", std::string(sql)}});
  std::vector<std::vector<std::string>> rows;
  if (text.empty()) return rows;
  // psql ends the last row with a line end whatever the separator is.
  for (const auto& row : split(std::string_view(text).substr(0, text.size() - 1), row_separator)) {
    rows.push_back(split(row, field_separator));
  }
  return rows;
}

PsqlSession::PsqlSession(const TestDatabase& database, std::string_view user)
    : PsqlSession(database.server().conninfo(database.name(), user)) {}

PsqlSession::PsqlSession(const std::string& connection)
    : psql_({.argv = {"sh", "-c", "exec \"$0\" -XAtq -d \"$1\" 2>&1", PgServer::program("psql"), connection},
             .standard_input = Stdin::pipe}) {}

std::string PsqlSession::run(std::string_view sql, std::chrono::milliseconds deadline) {
  const std::string mark = "--- end of " + std::to_string(++marks_) + " ---\n";
  psql_.write(std::string(sql) + "\n\\echo " + mark);
  std::size_t end = std::string::npos;
  wait_until(
      "psql to run: " + std::string(sql),
      [&] {
        end = psql_.out().find(mark, seen_);
        return end != std::string::npos || psql_.finished();
      },
      deadline);
  auto text = psql_.out().substr(seen_);
  if (end == std::string::npos) throw std::runtime_error("psql ended: " + text);
  text.resize(end - seen_);
  seen_ = end + mark.size();
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void PsqlSession::send(std::string_view sql) {
  psql_.write(std::string(sql) + "\n");
}

}  // namespace lockstep::test
