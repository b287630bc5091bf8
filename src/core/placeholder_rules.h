#pragma once

#include <set>
#include <string>

#include "core/error.h"
#include "core/script_rules.h"
#include "sql/placeholders.h"

namespace lockstep {

/// Why a placeholder cannot be replaced, and what to do about it.
Error undefined_placeholder(const sql::Placeholder& placeholder, const sql::Placeholders& declared,
                            const ScriptFiles& files);

/// Sixteen hexadecimal digits that change with the names and with each of their values; empty without names.
std::string placeholder_digest(const std::set<std::string>& names, const sql::Placeholders& declared);

}  // namespace lockstep
