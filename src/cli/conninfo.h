#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

/// What can be told about a connection string without connecting.
struct ConninfoParts {
  std::vector<std::string> secrets = {};  ///< passwords as written and as meant; of a malformed string also
                                          ///< every piece that an error could quote
  std::vector<std::string> names = {};    ///< user, host, database: known to everybody
};

/// Finds everything in a connection string that may be a password: userinfo and query of a URL, key=value
/// pairs with quotes and backslashes, and whatever stands in their place when the string is malformed.
ConninfoParts conninfo_parts(std::string_view conninfo);

/// %41 becomes A; a + stays, and so does what is not two hexadecimal digits.
std::string percent_decoded(std::string_view text);

/// True for keys whose value is a password.
bool is_secret_key(std::string_view key);

}  // namespace lockstep::cli
