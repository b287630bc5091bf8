#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lockstep::test {

/// A private, empty directory. It goes with this object, unless the test has failed: then it stays and its
/// path is printed, so that what the test left can be looked at.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  std::string string() const { return path_.string(); }
  /// Writes the bytes of a file below the directory, making folders as needed. Returns its full path.
  std::filesystem::path write_file(const std::filesystem::path& name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

/// A new directory that nobody removes by itself.
std::filesystem::path make_temp_dir(const std::string& prefix);

void write_file(const std::filesystem::path& path, std::string_view bytes);
std::string read_file(const std::filesystem::path& path);

/// Whether an assertion of the test that runs now has failed.
bool current_test_failed();

}  // namespace lockstep::test
