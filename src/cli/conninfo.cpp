#include "cli/conninfo.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace lockstep::cli {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The keywords of libpq 17 (documentation, section 34.1.2). A word that is none of them may be a piece of a
/// password that was not quoted or encoded.
constexpr std::array<std::string_view, 50> keywords{"application_name",
                                                    "channel_binding",
                                                    "client_encoding",
                                                    "connect_timeout",
                                                    "dbname",
                                                    "fallback_application_name",
                                                    "gssdelegation",
                                                    "gssencmode",
                                                    "gsslib",
                                                    "host",
                                                    "hostaddr",
                                                    "keepalives",
                                                    "keepalives_count",
                                                    "keepalives_idle",
                                                    "keepalives_interval",
                                                    "krbsrvname",
                                                    "load_balance_hosts",
                                                    "max_protocol_version",
                                                    "min_protocol_version",
                                                    "oauth_client_id",
                                                    "oauth_client_secret",
                                                    "oauth_issuer",
                                                    "oauth_scope",
                                                    "options",
                                                    "passfile",
                                                    "password",
                                                    "port",
                                                    "replication",
                                                    "require_auth",
                                                    "requirepeer",
                                                    "service",
                                                    "servicefile",
                                                    "ssl",
                                                    "ssl_max_protocol_version",
                                                    "ssl_min_protocol_version",
                                                    "sslcert",
                                                    "sslcertmode",
                                                    "sslcompression",
                                                    "sslcrl",
                                                    "sslcrldir",
                                                    "sslkey",
                                                    "sslkeylogfile",
                                                    "sslmode",
                                                    "sslnegotiation",
                                                    "sslpassword",
                                                    "sslrootcert",
                                                    "sslsni",
                                                    "target_session_attrs",
                                                    "tcp_user_timeout",
                                                    "user"};

bool is_keyword(std::string_view word) {
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void add(std::vector<std::string>& list, std::string text) {
  if (!text.empty()) list.push_back(std::move(text));
}

void add_secret(ConninfoParts& parts, std::string_view raw) {
  add(parts.secrets, std::string(raw));
  add(parts.secrets, percent_decoded(raw));
}

/// What an error could quote of a secret that libpq reads as something else: everything between two
/// separators, near or far.
void add_pieces(ConninfoParts& parts, std::string_view text, std::string_view separators) {
  constexpr std::size_t most = 40;  // a longer list of borders would take long and help nobody
  std::vector<std::size_t> borders{0};
  for (std::size_t at = 0; at < text.size() && borders.size() < most; ++at) {
    if (separators.find(text[at]) != npos) borders.push_back(at + 1);
  }
  borders.push_back(text.size() + 1);
  for (std::size_t from = 0; from + 1 < borders.size(); ++from) {
    for (std::size_t to = from + 1; to < borders.size(); ++to) {
      const auto begin = borders[from];
      if (borders[to] > begin + 1) add_secret(parts, text.substr(begin, borders[to] - begin - 1));
    }
  }
}

/// key=value&key=value. False when it is not of this form.
bool read_query(ConninfoParts& parts, std::string_view query) {
  bool well_formed = true;
  auto after_secret = npos;
  for (std::size_t begin = 0; begin <= query.size();) {
    const auto end = std::min(query.find('&', begin), query.size());
    const auto pair = query.substr(begin, end - begin);
    const auto equals = pair.find('=');
    const auto key = percent_decoded(pair.substr(0, equals));
    const bool secret = equals != npos && is_secret_key(key);
    if (secret) {
      add_pieces(parts, pair.substr(equals + 1), "=");
      after_secret = std::min(after_secret, begin + equals + 1);
    }
    well_formed = well_formed && equals != npos && (secret || is_keyword(key));
    begin = end + 1;
  }
  if (!well_formed && after_secret != npos) add_pieces(parts, query.substr(after_secret), "&=");
  return well_formed;
}

void add_hosts(ConninfoParts& parts, std::string_view hosts) {
  while (!hosts.empty()) {
    const auto end = hosts.find(',');
    const auto host = hosts.substr(0, end);
    const auto bracket = host.find(']');
    const auto name = bracket == npos ? host.substr(0, host.find(':')) : host.substr(0, bracket + 1);
    add(parts.names, percent_decoded(name));
    if (end == npos) return;
    hosts.remove_prefix(end + 1);
  }
}

/// The text after "://". libpq looks for an @ before the first /; behind it come hosts, /database and ?query.
bool read_well_formed(ConninfoParts& parts, std::string_view rest) {
  const auto at = rest.find_first_of("@/");
  if (at != npos && rest[at] == '@') {
    const auto userinfo = rest.substr(0, at);
    const auto colon = userinfo.find(':');
    add(parts.names, percent_decoded(userinfo.substr(0, colon)));
    if (colon != npos) add_secret(parts, userinfo.substr(colon + 1));
    rest.remove_prefix(at + 1);
  }
  const auto question = rest.find('?');
  const auto place = rest.substr(0, question);
  const bool good_query = question == npos || read_query(parts, rest.substr(question + 1));
  const auto slash = place.find('/');
  add_hosts(parts, place.substr(0, slash));
  if (slash != npos) add(parts.names, percent_decoded(place.substr(slash + 1)));
  return good_query && place.find('@') == npos;
}

/// A password with @ / ? # that were not percent-encoded: everything up to the last @ may be part of it.
void read_malformed(ConninfoParts& parts, std::string_view rest) {
  const auto at = rest.rfind('@');
  const auto colon = rest.find(':');
  if (at == npos || colon == npos || colon > at) return;
  parts.names.clear();
  add_pieces(parts, rest.substr(colon + 1, at - colon - 1), "@/:?#&= \t\r\n'\\");
}

/// libpq knows two schemes, and takes anything else for key=value pairs.
void read_url(ConninfoParts& parts, std::string_view conninfo, std::size_t scheme_size) {
  const auto scheme = conninfo.substr(0, scheme_size);
  const auto rest = conninfo.substr(scheme_size + 3);
  const bool good_scheme = scheme == "postgresql" || scheme == "postgres";
  if (!read_well_formed(parts, rest)) read_malformed(parts, rest);
  if (!good_scheme) read_malformed(parts, conninfo);
}

/// Where the next `key =` begins, so that a value with blanks and no quotes is taken whole.
std::size_t next_key(std::string_view text) {
  for (std::size_t equals = text.find('='); equals != npos; equals = text.find('=', equals + 1)) {
    auto end = equals;
    while (end > 0 && is_blank(text[end - 1])) --end;
    auto begin = end;
    while (begin > 0 && is_key_char(text[begin - 1])) --begin;
    if (begin > 0 && is_blank(text[begin - 1]) && is_keyword(text.substr(begin, end - begin))) return begin;
  }
  return text.size();
}

struct PairValue {
  std::string meant = {};
  std::size_t size = 0;  ///< bytes of the text that it takes
  bool complete = true;
};

/// A value as conninfo_parse of libpq reads it: a backslash takes the next character as it is, quotes hold
/// blanks.
PairValue read_value(std::string_view text) {
  PairValue value;
  const bool quoted = text.starts_with('\'');
  std::size_t at = quoted ? 1 : 0;
  for (; at < text.size(); ++at) {
    if (quoted ? text[at] == '\'' : is_blank(text[at])) break;
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    value.meant += text[at];
  }
  value.complete = !quoted || at < text.size();
  value.size = quoted && value.complete ? at + 1 : at;
  return value;
}

void read_secret_value(ConninfoParts& parts, std::string_view text) {
  const auto value = read_value(text);
  add(parts.secrets, value.meant);
  add(parts.secrets, std::string(text.substr(0, value.size)));
  // Whatever else stands before the next key is a piece of a badly quoted password; and a backslash may have
  // been meant as one.
  const auto end = value.complete ? value.size + next_key(text.substr(value.size)) : text.size();
  auto whole = text.substr(0, end);
  while (!whole.empty() && is_blank(whole.back())) whole.remove_suffix(1);
  const bool doubtful = !value.complete || whole.size() > value.size || whole.find('\\') != npos;
  if (doubtful) add_pieces(parts, whole, " \t\r\n'\\");
  if (text.starts_with('\'')) add(parts.secrets, std::string(text.substr(1, value.meant.size())));
}

bool is_name_key(std::string_view key) {
  constexpr std::array<std::string_view, 4> keys{"user", "host", "hostaddr", "dbname"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void read_pairs(ConninfoParts& parts, std::string_view text) {
  while (!text.empty()) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    auto key_end = text.begin();
    while (key_end != text.end() && is_key_char(*key_end)) ++key_end;
    const auto key = text.substr(0, static_cast<std::size_t>(key_end - text.begin()));
    auto rest = text.substr(key.size());
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    if (key.empty() || !rest.starts_with('=')) {
      const auto skip = text.find_first_of(" \t\r\n");
      if (skip == npos) return;
      text.remove_prefix(skip);
      continue;
    }
    rest.remove_prefix(1);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    const auto value = read_value(rest);
    if (is_secret_key(key)) read_secret_value(parts, rest);
    if (is_name_key(key)) add(parts.names, value.meant);
    text = rest.substr(value.size);
  }
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escape = text[at] == '%' && at + 2 < text.size() && hex_digit(text[at + 1]) >= 0 &&
                        hex_digit(text[at + 2]) >= 0;
    if (!escape) {
      result += text[at];
      continue;
    }
    result += static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
    at += 2;
  }
  return result;
}

bool is_secret_key(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  // passfile names a file. The rest are also misspellings, which libpq reports without the value; we are not
  // less careful.
  if (lower == "passfile") return false;
  constexpr std::array<std::string_view, 4> signs{"pass", "pwd", "secret", "pasw"};
  return std::any_of(signs.begin(), signs.end(),
                     [&](auto sign) { return lower.find(sign) != std::string::npos; });
}

ConninfoParts conninfo_parts(std::string_view conninfo) {
  ConninfoParts parts;
  if (const auto scheme = conninfo.find("://"); scheme != npos && conninfo.find('=') > scheme) {
    read_url(parts, conninfo, scheme);
    return parts;
  }
  read_pairs(parts, conninfo);
  // Neither URL nor pairs: "user:password@host".
  if (parts.names.empty() && conninfo.find('@') != npos) read_malformed(parts, conninfo);
  return parts;
}

}  // namespace lockstep::cli
