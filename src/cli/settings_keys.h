#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/settings.h"

namespace lockstep::cli {

enum class KeyType {
  text,
  conninfo,
  path,
  paths,
  identifier,
  identifiers,
  mark,
  duration,
  choice,
  boolean,
  integer
};

/// A value after it was checked. Only the member of the key's type is filled, and `text` always.
struct Value {
  std::string text = {};
  std::vector<std::string> list = {};
  Milliseconds duration{0};
  std::size_t choice = 0;  ///< position in Key::choices
  bool yes = false;
  std::int32_t integer = 0;
};

/// One row of the table that describes every setting.
struct Key {
  std::string_view section;
  std::string_view name;
  KeyType type;
  std::string_view fallback;  ///< as the environment would spell it; may be empty
  std::string_view choices;   ///< "wait|fail|skip", in the order of the enumeration
  std::string_view flag;      ///< "--lock-wait", or empty
  std::string_view description;
  void (*store)(Settings&, const Value&);

  std::string full_name() const;  ///< "lock.wait"
  std::string variable() const;   ///< "LOCKSTEP_LOCK_WAIT"
};

std::span<const Key> keys();

/// nullptr where there is no such key.
const Key* find_key(std::string_view section, std::string_view name);
const Key* find_key(std::string_view full_name);

/// What a value of this type looks like: "a duration", "text or json".
std::string type_name(const Key& key);

std::vector<std::string_view> split(std::string_view text, char separator);

/// A value that lockstep.toml has and no setting can take: "a float", "a table".
struct OtherType {
  std::string_view name;
};

/// A value as its source has it. Environment and flags only have text.
using RawValue = std::variant<std::string, std::vector<std::string>, std::int64_t, bool, OtherType>;

/// Why a value cannot be taken: follows the name of the setting in a message.
struct ValueProblem {
  std::string message;
  std::string hint;
};

std::variant<Value, ValueProblem> parse_value(const Key& key, const RawValue& raw);

}  // namespace lockstep::cli
