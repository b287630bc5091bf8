#include "cli/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace lockstep::cli {
namespace {

Json number_or_null(std::size_t number) {
  return number == 0 ? Json() : Json(number);
}

}  // namespace

std::string to_text(const Json& json, Layout layout) {
  return json.dump(layout == Layout::document ? 2 : -1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json redacted(Json json, const Redactor& redactor) {
  if (json.is_string()) return redactor(json.get_ref<const std::string&>());
  if (json.is_structured()) {
    for (auto& element : json) element = redacted(std::move(element), redactor);
  }
  return json;
}

Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}

Json to_json(const Error& error) {
  const auto where = error.where.value_or(SourcePosition{});
  Json json = {{"code", error.code},
               {"message", error.message},
               {"file", text_or_null(where.file)},
               {"line", number_or_null(where.line)},
               {"column", number_or_null(where.column)},
               {"sqlstate", text_or_null(error.sqlstate)},
               {"detail", text_or_null(error.detail)},
               {"hint", text_or_null(fmt::format("{}", fmt::join(error.hints, "\n")))}};
  for (const auto& place : error.included_from) {
    json["included_from"].push_back({{"file", place.file}, {"line", place.line}, {"column", place.column}});
  }
  if (!error.context.empty()) json["context"] = error.context;
  if (error.retry_after_ms) json["retry_after_ms"] = *error.retry_after_ms;
  return json;
}

Json to_json(const Migration& migration) {
  return {{"version", text_or_null(version_text(migration))},
          {"description", migration.name.description},
          {"script", migration.script},
          {"kind", to_string(migration.name.kind)},
          {"checksum", migration.checksum}};
}

Json to_json(const Migration& migration, std::string_view state) {
  auto json = to_json(migration);
  json["state"] = state;
  return json;
}

Json to_json(const PlanEntry& entry) {
  return {{"version", text_or_null(entry.version())},   {"description", entry.description()},
          {"script", text_or_null(entry.script())},     {"kind", entry.kind()},
          {"checksum", text_or_null(entry.checksum())}, {"state", to_string(entry.state)}};
}

Json to_json(const LockHolder& holder) {
  return {{"pid", holder.pid},
          {"application", text_or_null(holder.application)},
          {"user", text_or_null(holder.user)},
          {"client", text_or_null(holder.client)},
          {"since", text_or_null(holder.since)},
          {"state", text_or_null(holder.state)},
          {"query", text_or_null(holder.query)}};
}

}  // namespace lockstep::cli
