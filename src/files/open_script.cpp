#include "files/open_script.h"

#include <memory>

#include "files/input_file.h"

namespace lockstep::files {

sql::ReadBytes open_script(const Migration& migration, std::size_t number) {
  // std::function wants to be copied; the copies share the file.
  const auto file =
      std::make_shared<InputFile>(number == 0 ? migration.path : migration.includes.at(number - 1).path);
  return [file](char* to, std::size_t at_most) { return file->read(to, at_most); };
}

}  // namespace lockstep::files
