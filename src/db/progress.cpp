#include "db/progress.h"

#include "core/checksum.h"

namespace lockstep::db {

Progress progress_before(const Step& step) {
  if (!step.resumes) return {};
  return {static_cast<std::size_t>(step.resumes->statements_done), step.resumes->checksum,
          step.resumes->intent};
}

Progress progress_with(const Progress& before, std::string_view statement) {
  Checksum checksum;
  checksum.update(before.digest);
  checksum.update("\n");
  checksum.update(statement);
  return {before.statements + 1, checksum.finish()};
}

}  // namespace lockstep::db
