#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lockstep {

/// Something that can be dropped, as the server calls it.
struct SchemaObject {
  std::string kind = {};  ///< "table", "materialized view", "operator class", …
  std::string name = {};  ///< qualified and quoted, with the types of arguments: "public.f(integer)"

  friend bool operator==(const SchemaObject&, const SchemaObject&) = default;
};

/// An object that would be lost or damaged when another one is dropped.
struct Dependent {
  std::string object = {};  ///< "view reports.totals"
  std::string on = {};      ///< "table public.orders"
};

/// What some schemas hold, besides what belongs to extensions and what goes with its table.
struct Inventory {
  std::vector<SchemaObject> objects = {};         ///< by kind and name
  std::vector<Dependent> dependents = {};         ///< outside, or of an extension; by name
  std::vector<std::string> missing_schemas = {};  ///< those that are not there
};

/// Looks at an inventory and throws Failure if it may not be dropped.
using CheckInventory = std::function<void(const Inventory&)>;

}  // namespace lockstep
