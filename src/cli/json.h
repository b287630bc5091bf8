#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/redact.h"
#include "core/database.h"
#include "core/plan.h"

namespace lockstep::cli {

/// Members stay in the order in which they were added: people read it, too.
using Json = nlohmann::ordered_json;

enum class Layout {
  document,  ///< indented
  line,      ///< one line
};

/// Ends with a line end. Bytes that are not UTF-8 become U+FFFD.
std::string to_text(const Json& json, Layout layout);

/// The same with every string value masked. Names of members stay.
Json redacted(Json json, const Redactor& redactor);

/// null for an empty text.
Json text_or_null(std::string_view text);

/// code, message, file, line, column, sqlstate, detail, hint; for a busy lock also retry_after_ms.
Json to_json(const Error& error);

/// version, description, script, kind, checksum: what every list of migrations has, besides `state`.
Json to_json(const Migration& migration);

/// The same with `state`.
Json to_json(const Migration& migration, std::string_view state);
Json to_json(const PlanEntry& entry);

Json to_json(const LockHolder& holder);

}  // namespace lockstep::cli
