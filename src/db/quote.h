#pragma once

#include <string>
#include <string_view>

namespace lockstep::db {

/// A name as an SQL identifier, always quoted (PostgreSQL docs, 4.1.1). The only way by which a name gets
/// into SQL text.
std::string quote_identifier(std::string_view name);

/// A value as an SQL string constant, for the few commands that take no parameters. Independent of
/// standard_conforming_strings.
std::string quote_literal(std::string_view value);

/// A list of names as search_path has it ('app, "$user"'), each one quoted: what is not a name cannot become
/// SQL.
std::string quote_identifier_list(std::string_view names);

}  // namespace lockstep::db
