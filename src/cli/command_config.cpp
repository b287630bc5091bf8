#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "cli/commands.h"
#include "cli/settings_keys.h"
#include "cli/settings_placeholders.h"
#include "cli/text_table.h"

namespace lockstep::cli {
namespace {

/// Where the database comes from when no connection string says it.
std::string libpq_variables(const Environment& environment) {
  constexpr std::array names{"PGSERVICE", "PGHOST", "PGPORT", "PGDATABASE", "PGUSER"};
  std::vector<std::string_view> set;
  for (const auto* const name : names) {
    if (variable(environment, name)) set.emplace_back(name);
  }
  return fmt::format("{}", fmt::join(set, ", "));
}

std::string_view source_name(Source source) {
  switch (source) {
    case Source::fallback:
      return "default";
    case Source::file:
      return "file";
    case Source::environment:
      return "environment";
    case Source::flag:
      return "flag";
  }
  return "default";
}

}  // namespace

void run_config(Run& run, Result& result) {
  TextTable table({"setting", "value", "from"});
  auto settings = Json::array();
  for (auto setting : run.loaded().shown) {
    const auto& environment = run.context().environment;
    const bool from_libpq =
        setting.key == "database.url" && setting.value.empty() && has_libpq_target(environment);
    if (from_libpq) setting.origin = {Source::environment, libpq_variables(environment)};
    const bool secret = setting.key.starts_with(placeholder_section) &&
                        looks_secret(setting.key.substr(placeholder_section.size()));
    const auto value = secret && !setting.value.empty() ? "***" : run.redactor()(setting.value);
    const auto set = setting.origin.source != Source::fallback;
    table.add({{setting.key, set ? Color::bold : Color::none}, {value}, {setting.origin.text}});
    settings.push_back({{"key", setting.key},
                        {"value", value},
                        {"source", source_name(setting.origin.source)},
                        {"from", setting.origin.text}});
  }
  result.fields = {{"settings", std::move(settings)}};
  result.text = table.render(run.coloring());
}

}  // namespace lockstep::cli
