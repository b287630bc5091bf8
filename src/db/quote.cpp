#include "db/quote.h"

namespace lockstep::db {
namespace {

std::string doubled(std::string_view text, std::string_view specials) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (specials.find(c) != std::string_view::npos) result += c;
  }
  return result;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/// Reads one name from the front of `names`, as SplitIdentifierString does: quoted as it stands, else in
/// lower case.
std::string take_name(std::string_view& names) {
  std::string name;
  if (names.starts_with('"')) {
    names.remove_prefix(1);
    while (!names.empty() && (names.front() != '"' || names.starts_with("\"\""))) {
      name += names.front();
      names.remove_prefix(names.front() == '"' ? 2 : 1);
    }
    names.remove_prefix(names.empty() ? 0 : 1);
    return name;
  }
  while (!names.empty() && names.front() != ',') {
    const char c = names.front();
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    names.remove_prefix(1);
  }
  while (!name.empty() && is_blank(name.back())) name.pop_back();
  return name;
}

}  // namespace

std::string quote_identifier(std::string_view name) {
  return '"' + doubled(name, "\"") + '"';
}

std::string quote_literal(std::string_view value) {
  if (value.find('\\') == std::string_view::npos) return "'" + doubled(value, "'") + "'";
  return " E'" + doubled(value, "'\\") + "'";
}

std::string quote_identifier_list(std::string_view names) {
  std::string list;
  while (!names.empty()) {
    if (is_blank(names.front()) || names.front() == ',') {
      names.remove_prefix(1);
      continue;
    }
    list += list.empty() ? "" : ", ";
    list += quote_identifier(take_name(names));
  }
  return list;
}

}  // namespace lockstep::db
