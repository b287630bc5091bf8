#include "core/script_checksum.h"

#include <utility>

namespace lockstep {

sql::ReadBytes ScriptChecksum::watch(sql::ReadBytes read) {
  const auto number = included_.size();
  included_.emplace_back();
  // std::function wants to be copied; the copies share the state.
  const auto checksum = std::make_shared<Checksum>();
  return [this, number, checksum, read = std::move(read)](char* to, std::size_t at_most) {
    const auto size = read(to, at_most);
    checksum->update({to, size});
    if (size == 0 && included_[number].empty()) included_[number] = checksum->finish();
    return size;
  };
}

std::string ScriptChecksum::finish() {
  auto own = own_.finish();
  if (included_.empty()) return own;
  std::string list = std::move(own);
  for (const auto& checksum : included_) list += "\n" + checksum;
  return checksum(list);
}

}  // namespace lockstep
