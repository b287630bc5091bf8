#include "sql/classify.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sql/characters.h"
#include "sql/phrase.h"

namespace lockstep::sql {
namespace {

using Kind = StatementKind;

StatementClass plain(Kind kind, std::string_view name) {
  return {.kind = kind, .name = name};
}

StatementClass never_in_transaction(Kind kind, std::string_view name,
                                    int since = StatementClass::every_version) {
  return {.kind = kind, .name = name, .not_in_transaction_since = since};
}

/// The last value of a Boolean option, as PostgreSQL takes it when one is given twice.
bool boolean_option(Phrase options, std::string_view name, bool otherwise) {
  while (const auto option = options.option()) {
    if (same_word(option->name, name)) otherwise = to_boolean(option->value).value_or(true);
  }
  return otherwise;
}

StatementClass create(Phrase phrase) {
  phrase.accept("unique");
  if (phrase.accept("index", "concurrently")) {
    return never_in_transaction(Kind::create_index_concurrently, "CREATE INDEX CONCURRENTLY");
  }
  if (phrase.is("database")) return never_in_transaction(Kind::create_database, "CREATE DATABASE");
  if (phrase.is("tablespace")) return never_in_transaction(Kind::create_tablespace, "CREATE TABLESPACE");
  if (!phrase.accept("subscription")) return {};
  auto subscription = plain(Kind::create_subscription, "CREATE SUBSCRIPTION");
  const auto options = phrase.find("with") ? phrase.parenthesized() : Phrase({});
  const bool slot = boolean_option(options, "create_slot", boolean_option(options, "connect", true));
  if (slot) subscription.not_in_transaction_since = StatementClass::every_version;
  return subscription;
}

StatementClass drop(Phrase phrase) {
  if (phrase.accept("index", "concurrently")) {
    return never_in_transaction(Kind::drop_index_concurrently, "DROP INDEX CONCURRENTLY");
  }
  if (phrase.is("database")) return never_in_transaction(Kind::drop_database, "DROP DATABASE");
  if (phrase.is("tablespace")) return never_in_transaction(Kind::drop_tablespace, "DROP TABLESPACE");
  if (phrase.is("subscription")) return never_in_transaction(Kind::drop_subscription, "DROP SUBSCRIPTION");
  return {};
}

StatementClass reindex(Phrase phrase) {
  bool concurrently = boolean_option(phrase.parenthesized(), "concurrently", false);
  const bool many = phrase.is("schema") || phrase.is("database") || phrase.is("system");
  phrase.skip();
  concurrently = phrase.accept("concurrently") || concurrently;
  if (concurrently) return never_in_transaction(Kind::reindex_concurrently, "REINDEX CONCURRENTLY");
  if (many) return never_in_transaction(Kind::reindex_many, "REINDEX SCHEMA, DATABASE or SYSTEM");
  return {};
}

StatementClass vacuum(Phrase) {
  return never_in_transaction(Kind::vacuum, "VACUUM");
}

StatementClass cluster(Phrase phrase) {
  phrase.parenthesized();
  phrase.accept("verbose");
  if (!phrase.at_end()) return {};
  return never_in_transaction(Kind::cluster_all, "CLUSTER without a table");
}

/// ALTER DATABASE d SET TABLESPACE t, and the older ALTER DATABASE d [WITH] TABLESPACE [=] t.
StatementClass alter_database(Phrase phrase) {
  phrase.skip_name();
  const bool moved = phrase.accept("set", "tablespace") || phrase.accept("with", "tablespace") ||
                     phrase.accept("tablespace");
  if (!moved) return {};
  return never_in_transaction(Kind::alter_database_tablespace, "ALTER DATABASE … SET TABLESPACE");
}

StatementClass alter_table(Phrase phrase) {
  const bool concurrently = phrase.ends_with("concurrently");
  while (concurrently && phrase.find("detach")) {
    if (!phrase.accept("partition")) continue;
    return never_in_transaction(Kind::detach_partition_concurrently,
                                "ALTER TABLE … DETACH PARTITION … CONCURRENTLY");
  }
  return {};
}

StatementClass alter_type(Phrase phrase) {
  phrase.skip_name();
  return phrase.accept("add", "value") ? plain(Kind::alter_type_add_value, "ALTER TYPE … ADD VALUE")
                                       : StatementClass{};
}

/// PostgreSQL 14 was the first to refuse the refresh; 17 refuses to change failover, 18 to take two_phase
/// back.
StatementClass alter_subscription(Phrase phrase) {
  phrase.skip_name();
  const Kind kind = Kind::alter_subscription;
  if (phrase.is("refresh")) return never_in_transaction(kind, "ALTER SUBSCRIPTION … REFRESH PUBLICATION", 14);
  const bool publications = phrase.accept("set", "publication") || phrase.accept("add", "publication") ||
                            phrase.accept("drop", "publication");
  if (publications) {
    const auto options = phrase.find("with") ? phrase.parenthesized() : Phrase({});
    if (!boolean_option(options, "refresh", true)) return {};
    return never_in_transaction(kind, "ALTER SUBSCRIPTION … PUBLICATION with refresh", 14);
  }
  if (!phrase.accept("set")) return {};
  const auto options = phrase.parenthesized();
  for (auto rest = options; const auto option = rest.option();) {
    if (same_word(option->name, "failover")) {
      return never_in_transaction(kind, "ALTER SUBSCRIPTION … SET (failover)", 17);
    }
  }
  if (boolean_option(options, "two_phase", true)) return {};
  return never_in_transaction(kind, "ALTER SUBSCRIPTION … SET (two_phase = false)", 18);
}

StatementClass alter(Phrase phrase) {
  if (phrase.is("system")) return never_in_transaction(Kind::alter_system, "ALTER SYSTEM");
  if (phrase.accept("table")) return alter_table(phrase);
  if (phrase.accept("type")) return alter_type(phrase);
  if (phrase.accept("database")) return alter_database(phrase);
  if (phrase.accept("subscription")) return alter_subscription(phrase);
  return {};
}

bool accept_chain(Phrase& phrase) {
  if (!phrase.accept("work")) phrase.accept("transaction");
  return phrase.accept("and", "chain");
}

StatementClass begin(Phrase) {
  return plain(Kind::begin, "BEGIN");
}

StatementClass start(Phrase phrase) {
  return phrase.is("transaction") ? plain(Kind::begin, "START TRANSACTION") : StatementClass{};
}

StatementClass commit(Phrase phrase) {
  if (phrase.is("prepared")) return never_in_transaction(Kind::commit_prepared, "COMMIT PREPARED");
  auto statement = plain(Kind::commit, "COMMIT");
  statement.chains = accept_chain(phrase);
  return statement;
}

StatementClass rollback(Phrase phrase) {
  if (phrase.is("prepared")) return never_in_transaction(Kind::rollback_prepared, "ROLLBACK PREPARED");
  auto statement = plain(Kind::rollback, "ROLLBACK");
  statement.chains = accept_chain(phrase);
  return phrase.is("to") ? plain(Kind::rollback_to, "ROLLBACK TO SAVEPOINT") : statement;
}

StatementClass savepoint(Phrase) {
  return plain(Kind::savepoint, "SAVEPOINT");
}
StatementClass release(Phrase) {
  return plain(Kind::release, "RELEASE SAVEPOINT");
}

StatementClass prepare(Phrase phrase) {
  const bool transaction = phrase.accept("transaction") && phrase.is(Token::Kind::string);
  return transaction ? plain(Kind::prepare_transaction, "PREPARE TRANSACTION") : StatementClass{};
}

StatementClass discard(Phrase phrase) {
  if (!phrase.is("all")) return {};
  auto statement = never_in_transaction(Kind::discard_all, "DISCARD ALL");
  statement.reading = {ReadingSetting::all, ReadingChange::To::initial};
  return statement;
}

ReadingSetting reading_setting(std::string_view name) {
  if (same_word(name, "standard_conforming_strings")) return ReadingSetting::standard_conforming_strings;
  if (same_word(name, "backslash_quote")) return ReadingSetting::backslash_quote;
  if (same_word(name, "client_encoding") || same_word(name, "names")) return ReadingSetting::client_encoding;
  return ReadingSetting::none;
}

ReadingChange::To reading_value(std::string_view value) {
  if (same_word(value, "default")) return ReadingChange::To::initial;
  const auto on = value.empty() ? std::nullopt : to_boolean(value);
  if (!on) return ReadingChange::To::other;
  return *on ? ReadingChange::To::on : ReadingChange::To::off;
}

StatementClass set(Phrase phrase) {
  const bool local = phrase.accept("local");
  if (!local) phrase.accept("session");
  if (phrase.is("transaction")) return plain(Kind::set_transaction, "SET TRANSACTION");
  if (phrase.is("constraints")) return {};
  auto statement = plain(Kind::set, "SET");
  statement.reading = {.setting = reading_setting(unquoted(phrase.text())), .local = local};
  phrase.skip_name();
  if (!phrase.accept("to")) phrase.accept_symbol('=');
  statement.reading.to = reading_value(unquoted(phrase.text()));
  return statement;
}

StatementClass reset(Phrase phrase) {
  auto statement = plain(Kind::set, "RESET");
  const auto setting = phrase.is("all") ? ReadingSetting::all : reading_setting(unquoted(phrase.text()));
  statement.reading = {setting, ReadingChange::To::initial};
  return statement;
}

/// SELECT [pg_catalog.]set_config('name', 'value', is_local) and nothing before it.
StatementClass select(Phrase phrase) {
  if (phrase.accept("pg_catalog")) phrase.accept_symbol('.');
  if (!phrase.accept("set_config") || !phrase.accept_symbol('(')) return {};
  auto statement = plain(Kind::set, "SELECT set_config");
  statement.reading.setting = reading_setting(unquoted(phrase.text()));
  phrase.skip();
  phrase.accept_symbol(',');
  statement.reading.to = reading_value(unquoted(phrase.text()));
  phrase.skip();
  phrase.accept_symbol(',');
  statement.reading.local = to_boolean(unquoted(phrase.text())).value_or(false);
  return statement;
}

CopyFormat copy_format(Phrase phrase) {
  phrase.accept("with");
  for (auto options = phrase.parenthesized(); const auto option = options.option();) {
    if (!same_word(option->name, "format")) continue;
    if (same_word(option->value, "binary")) return CopyFormat::binary;
    if (same_word(option->value, "csv")) return CopyFormat::csv;
  }
  if (auto rest = phrase; rest.find("binary")) return CopyFormat::binary;
  return phrase.find("csv") ? CopyFormat::csv : CopyFormat::text;
}

/// The grammar takes STDIN and STDOUT for one another: the direction decides.
StatementClass copy(Phrase phrase) {
  const bool binary = phrase.is("binary");
  auto to = phrase;
  if (phrase.find("from") && (phrase.accept("stdin") || phrase.accept("stdout"))) {
    auto statement = plain(Kind::copy_from_stdin, "COPY … FROM STDIN");
    statement.copy_format = binary ? CopyFormat::binary : copy_format(phrase);
    return statement;
  }
  const bool out = to.find("to") && (to.accept("stdout") || to.accept("stdin"));
  return out ? plain(Kind::copy_to_stdout, "COPY … TO STDOUT") : StatementClass{};
}

StatementClass call(Phrase) {
  return plain(Kind::call, "CALL");
}
StatementClass do_block(Phrase) {
  return plain(Kind::do_block, "DO");
}

struct Command {
  std::string_view word;
  StatementClass (*judge)(Phrase);
  std::size_t useful_tokens;
  std::array<std::string_view, 5> seconds = {};  ///< the second words that are of interest; none: any
};

constexpr std::size_t many = 512;
constexpr std::size_t few = 16;

constexpr std::array commands = {
    Command{"create", create, many, {"unique", "index", "database", "tablespace", "subscription"}},
    Command{"alter", alter, many, {"table", "type", "database", "system", "subscription"}},
    Command{"drop", drop, few},
    Command{"copy", copy, many},
    Command{"set", set, few},
    Command{"reset", reset, few},
    Command{"select", select, few, {"pg_catalog", "set_config"}},
    Command{"begin", begin, few},
    Command{"start", start, few},
    Command{"commit", commit, few},
    Command{"end", commit, few},
    Command{"rollback", rollback, few},
    Command{"abort", rollback, few},
    Command{"savepoint", savepoint, few},
    Command{"release", release, few},
    Command{"prepare", prepare, few},
    Command{"reindex", reindex, few * 2},
    Command{"vacuum", vacuum, few},
    Command{"cluster", cluster, few * 2},
    Command{"discard", discard, few},
    Command{"call", call, few},
    Command{"do", do_block, few},
};

const Command* find_command(std::span<const Token> head) {
  if (head.empty() || head.front().kind != Token::Kind::word) return nullptr;
  const auto same = [&](const Command& command) { return same_word(head.front().text, command.word); };
  const auto* const found = std::find_if(commands.begin(), commands.end(), same);
  return found == commands.end() ? nullptr : found;
}

bool is_of_interest(const Command& command, Phrase behind) {
  const auto is_second = [&](std::string_view word) { return !word.empty() && behind.is(word); };
  return command.seconds.front().empty() ||
         std::any_of(command.seconds.begin(), command.seconds.end(), is_second);
}

/// Between CREATE and the kind of object.
constexpr std::array<std::string_view, 9> fillers = {"or",        "replace",  "global",  "local",    "temp",
                                                     "temporary", "unlogged", "trusted", "recursive"};
/// Words that make no kind of object without the next one.
constexpr std::array<std::string_view, 6> adjectives = {"access",  "default",      "event",
                                                        "foreign", "materialized", "text"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [word](auto one) { return same_word(word, one); });
}

/// Steps over blanks and letters, and returns the letters.
std::string_view next_word(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  std::size_t size = 0;
  while (size < text.size() && is_ascii_letter(text[size])) ++size;
  const auto word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

}  // namespace

bool StatementClass::controls_transaction() const {
  return kind >= StatementKind::begin && kind <= StatementKind::set_transaction;
}

bool refuses_transaction(const StatementClass& statement, std::optional<int> server_major) {
  const int since = statement.not_in_transaction_since;
  return since > 0 && server_major.value_or(since) >= since;
}

StatementClass classify(std::span<const Token> head) {
  const auto joins = [](const Token& token) { return token.depth == 0 && token.text == ";"; };  // psql's \;
  const auto end = std::find_if(head.begin(), head.end(), joins);
  head = head.first(static_cast<std::size_t>(end - head.begin()));
  const auto* const command = find_command(head);
  return command == nullptr ? StatementClass{} : command->judge(Phrase(head.subspan(1)));
}

std::size_t useful_head(std::span<const Token> head) {
  const auto* const command = find_command(head);
  if (command == nullptr) return 0;
  if (head.size() < shortest_head) return shortest_head;
  return is_of_interest(*command, Phrase(head.subspan(1))) ? command->useful_tokens : 0;
}

std::string command_name(const StatementClass& statement, std::string_view text) {
  if (!statement.name.empty()) return std::string(statement.name);
  while (!text.empty() && text.front() == '(') text.remove_prefix(1);
  const auto command = next_word(text);
  std::string name(command);
  const auto add = [&](std::string_view word) { name.append(" ").append(word); };
  if (same_word(command, "create") || same_word(command, "alter") || same_word(command, "drop")) {
    auto object = next_word(text);
    while (is_one_of(object, fillers)) object = next_word(text);
    add(object);
    if (is_one_of(object, adjectives)) add(next_word(text));
  }
  std::transform(name.begin(), name.end(), name.begin(), to_upper);
  return name;
}

}  // namespace lockstep::sql
