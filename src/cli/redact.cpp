#include "cli/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/conninfo.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view mask = "***";
constexpr std::size_t shortest_everywhere = 4;

/// Which characters besides letters and digits stay as they are: RFC 3986 lets encoders choose.
constexpr std::string_view unreserved = "-._~";

constexpr std::string_view upper_digits = "0123456789ABCDEF";
constexpr std::string_view lower_digits = "0123456789abcdef";

std::string percent_encoded(std::string_view text, std::string_view kept, std::string_view digits) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || kept.find(c) != npos) {
      result += c;
    } else {
      result += {'%', digits[byte / 16U], digits[byte % 16U]};
    }
  }
  return result;
}

/// With a backslash, or the character twice, before each of `special`.
std::string escaped(std::string_view text, std::string_view special, bool doubled) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != npos) result += doubled ? c : '\\';
    result += c;
  }
  return result;
}

/// Every way in which an output may spell a text.
std::vector<std::string> spellings(std::string_view secret) {
  return {std::string(secret),
          percent_encoded(secret, unreserved, upper_digits),
          percent_encoded(secret, unreserved, lower_digits),
          percent_encoded(secret, {}, upper_digits),
          percent_encoded(secret, {}, lower_digits),
          escaped(secret, "\\'", false),
          escaped(secret, "\\\"", false),
          escaped(secret, "'", true),
          escaped(secret, "\"", true),
          printable(secret)};
}

void add_all(std::vector<std::string>& list, std::vector<std::string> texts) {
  for (auto& text : texts) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  }
}

}  // namespace

/// Which bytes of a text are masked.
class Redactor::Cover {
 public:
  explicit Cover(std::string_view text) : text_(text) {}

  void hide(std::size_t begin, std::size_t size) {
    covered_.resize(text_.size(), false);
    std::fill_n(covered_.begin() + static_cast<std::ptrdiff_t>(begin), size, true);
  }

  void hide_everywhere(std::string_view secret) {
    for (auto at = text_.find(secret); at != npos; at = text_.find(secret, at + 1)) hide(at, secret.size());
  }

  void hide_as_value(std::string_view secret) {
    for (auto at = text_.find(secret); at != npos; at = text_.find(secret, at + 1)) {
      const char before = at == 0 ? ' ' : text_[at - 1];
      const auto end = at + secret.size();
      const char after = end == text_.size() ? ' ' : text_[end];
      const bool quoted = (before == '"' || before == '\'') && after == before;
      const bool userinfo = before == ':' && after == '@';
      const bool pair = before == '=' && (std::isspace(static_cast<unsigned char>(after)) || after == '&');
      if (quoted || userinfo || pair) hide(at, secret.size());
    }
  }

  /// ":password@" behind "://".
  void hide_userinfo() {
    for (auto at = text_.find("://"); at != npos; at = text_.find("://", at + 3)) {
      const auto begin = at + 3;
      const auto end = std::min(text_.find_first_of(" \t\n\"'<>", begin), text_.size());
      const auto url = text_.substr(begin, end - begin);
      const auto sign = url.substr(0, url.find('?')).rfind('@');
      const auto colon = url.find(':');
      if (sign == npos || colon == npos || colon >= sign) continue;
      hide(begin + colon + 1, sign - colon - 1);
    }
  }

  /// "password=value" with or without quotes, and with blanks around the sign as libpq allows them.
  void hide_pairs() {
    constexpr std::string_view key = "password";
    for (auto at = text_.find(key); at != npos; at = text_.find(key, at + key.size())) {
      const auto sign = text_.find_first_not_of(" \t", at + key.size());
      if (sign == npos || text_[sign] != '=') continue;
      const auto begin = text_.find_first_not_of(" \t", sign + 1);
      if (begin != npos) hide(begin, value_size(text_.substr(begin)));
    }
  }

  std::string result() const {
    if (covered_.empty()) return std::string(text_);
    std::string result;
    for (std::size_t at = 0; at < text_.size(); ++at) {
      if (!covered_[at]) {
        result += text_[at];
      } else if (at == 0 || !covered_[at - 1]) {
        result += mask;
      }
    }
    return result;
  }

 private:
  static std::size_t value_size(std::string_view text) {
    const bool quoted = text.starts_with('\'');
    std::size_t at = quoted ? 1 : 0;
    for (; at < text.size(); ++at) {
      if (quoted && text[at] == '\'') return at + 1;
      const auto ends = std::string_view(at == 0 ? " \t\r\n&" : " \t\r\n&\"'");
      if (!quoted && ends.find(text[at]) != npos) return at;
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
    }
    return text.size();
  }

  std::string_view text_;
  std::vector<bool> covered_;  ///< empty while nothing is masked
};

void Redactor::learn(std::string_view secret) {
  if (secret.empty()) return;
  add_all(secret.size() < shortest_everywhere ? as_value_ : everywhere_, spellings(secret));
}

void Redactor::learn_conninfo(std::string_view conninfo) {
  const auto parts = conninfo_parts(conninfo);
  for (const auto& secret : parts.secrets) learn(secret);
  for (const auto& name : parts.names) know_name(name);
}

void Redactor::know_name(std::string_view name) {
  names_.emplace_back(name);
}

bool Redactor::is_name(const std::string& text) const {
  return std::find(names_.begin(), names_.end(), text) != names_.end();
}

void Redactor::hide_learned(Cover& cover) const {
  for (const auto& secret : everywhere_) {
    if (!is_name(secret)) cover.hide_everywhere(secret);
  }
  for (const auto& secret : as_value_) {
    if (!is_name(secret)) cover.hide_as_value(secret);
  }
}

std::string Redactor::operator()(std::string_view text) const {
  Cover cover(text);
  hide_learned(cover);
  cover.hide_userinfo();
  cover.hide_pairs();
  return cover.result();
}

std::string Redactor::learned_only(std::string_view text) const {
  Cover cover(text);
  hide_learned(cover);
  return cover.result();
}

Error Redactor::operator()(Error error) const {
  for (auto* const text : {&error.message, &error.excerpt, &error.detail, &error.context}) {
    *text = (*this)(*text);
  }
  for (auto& hint : error.hints) hint = (*this)(hint);
  for (auto& place : error.included_from) place.file = (*this)(place.file);
  if (error.where) error.where->file = (*this)(error.where->file);
  return error;
}

}  // namespace lockstep::cli
