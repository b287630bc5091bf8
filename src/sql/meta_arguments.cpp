#include "sql/meta_arguments.h"

#include <cstddef>
#include <utility>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

int octal_digit(char byte) {
  return byte >= '0' && byte <= '7' ? byte - '0' : -1;
}

int hexadecimal_digit(char byte) {
  if (is_digit(byte)) return byte - '0';
  const char lower = to_lower(byte);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

class ArgumentScanner {
 public:
  ArgumentScanner(std::string_view text, Semicolons semicolons) : rest_(text), semicolons_(semicolons) {}

  MetaArguments read() {
    while (skip_blanks(), !rest_.empty() && !found_.problem) found_.values.push_back(argument());
    return std::move(found_);
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  char take() {
    const char byte = rest_.front();
    rest_.remove_prefix(1);
    return byte;
  }

  MetaArgument argument() {
    MetaArgument argument;
    std::size_t quoted_to = 0;
    while (!rest_.empty() && !is_blank(rest_.front()) && !found_.problem) {
      switch (rest_.front()) {
        case '\'':
          argument.quoted = true;
          single_quoted(argument.text);
          quoted_to = argument.text.size();
          break;
        case '"':
          argument.quoted = true;
          double_quoted(argument.text);
          quoted_to = argument.text.size();
          break;
        case '`':
          refuse("command_output", "psql would put the output of a program in the place of `…`",
                 "Write what it prints, or write single quotes around the argument.");
          break;
        case ':':
          colon(argument.text);
          break;
        default:
          argument.text += take();
      }
    }
    if (semicolons_ == Semicolons::dropped) drop_semicolons(argument.text, quoted_to);
    return argument;
  }

  static void drop_semicolons(std::string& text, std::size_t quoted_to) {
    while (text.size() > quoted_to && text.ends_with(';')) text.pop_back();
  }

  void single_quoted(std::string& to) {
    take();
    while (!rest_.empty()) {
      if (rest_.front() == '\\' && rest_.size() > 1) {
        take();
        escape(to);
      } else if (const char byte = take(); byte != '\'') {
        to += byte;
      } else if (rest_.starts_with('\'')) {
        to += take();
      } else {
        return;
      }
    }
    unterminated();
  }

  void double_quoted(std::string& to) {
    const auto end = rest_.find('"', 1);
    if (end == std::string_view::npos) return unterminated();
    to += rest_.substr(0, end + 1);
    rest_.remove_prefix(end + 1);
  }

  void escape(std::string& to) {
    const char letter = rest_.front();
    if (octal_digit(letter) >= 0) return numeric_escape(to, 3, 8, octal_digit);
    take();
    if (letter == 'x' && !rest_.empty() && hexadecimal_digit(rest_.front()) >= 0) {
      return numeric_escape(to, 2, 16, hexadecimal_digit);
    }
    constexpr std::string_view letters = "ntbrf";
    constexpr std::string_view controls = "\n\t\b\r\f";
    const auto known = letters.find(letter);
    to += known == std::string_view::npos ? letter : controls[known];
  }

  void numeric_escape(std::string& to, int most_digits, int base, int (*digit)(char)) {
    int value = 0;
    for (int i = 0; i < most_digits && !rest_.empty() && digit(rest_.front()) >= 0; ++i) {
      value = value * base + digit(take());
    }
    to += static_cast<char>(value);
  }

  /// :name, :'name', :"name" and :{?name} are variables, any other colon is one.
  void colon(std::string& to) {
    const auto next = rest_.size() > 1 ? rest_[1] : ' ';
    const bool variable = continues_tag(next) || next == '\'' || next == '"' || rest_.starts_with(":{?");
    if (!variable) {
      to += take();
      return;
    }
    refuse("variable", "a colon and a name stand for a variable of psql, and none is replaced here",
           "Write the value, or write single quotes around the argument.");
  }

  void unterminated() {
    refuse("unterminated_argument", "a quote in this command is never closed",
           "Close it on the same line; in single quotes a quote is written twice.");
  }

  void refuse(std::string_view code, std::string_view message, std::string_view hint) {
    found_.problem = {std::string(code), std::string(message), std::string(hint), {}};
  }

  std::string_view rest_;
  Semicolons semicolons_;
  MetaArguments found_;
};

}  // namespace

MetaArguments read_meta_arguments(std::string_view text, Semicolons semicolons) {
  return ArgumentScanner(text, semicolons).read();
}

}  // namespace lockstep::sql
