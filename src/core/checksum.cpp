#include "core/checksum.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/error.h"

namespace lockstep {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

void require(bool success) {
  if (success) return;
  throw Failure(Error{.kind = ErrorKind::internal,
                      .code = "sha256_unavailable",
                      .message = "this system's OpenSSL does not offer SHA-256"});
}

/// Looked up once: the search through OpenSSL's providers takes longer than hashing many small files. What
/// OpenSSL would tidy up when the process ends, ends with it.
const EVP_MD* fetch_sha256() {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  return EVP_MD_fetch(nullptr, "SHA256", nullptr);
}

const EVP_MD* algorithm_sha256() {
  static const EVP_MD* const algorithm = fetch_sha256();
  require(algorithm != nullptr);
  return algorithm;
}

std::string hexadecimal(std::string_view prefix, const Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(prefix);
  text.resize(prefix.size() + 2 * digest.size());
  char* to = text.data() + prefix.size();
  for (const auto byte : digest) {
    *to++ = digits[byte >> 4U];
    *to++ = digits[byte & 15U];
  }
  return text;
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

/// A context that this thread has used and will use again: beginning anew is much cheaper than making one.
Context& spare_context() {
  thread_local Context spare;
  return spare;
}

Context take_context() {
  auto context = std::exchange(spare_context(), nullptr);
  return context ? std::move(context) : Context(EVP_MD_CTX_new());
}

}  // namespace

/// What has been read, cut into what is certain to count (hashed) and what the next bytes decide about.
struct Checksum::State {
  Context context = take_context();
  std::size_t mark_bytes = 0;  ///< bytes of a BOM seen at the start of the file
  bool at_start = true;
  bool after_cr = false;      ///< a LF now belongs to the line end before it
  std::size_t line_ends = 0;  ///< withheld: they do not count if nothing follows

  State() { require(context && EVP_DigestInit_ex2(context.get(), algorithm_sha256(), nullptr) == 1); }
  ~State() { spare_context() = std::move(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void hash(std::string_view bytes) {
    require(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1);
  }

  std::string_view without_mark(std::string_view bytes);
  void text(std::string_view bytes);
  void lines(std::string_view bytes);
};

std::string_view Checksum::State::without_mark(std::string_view bytes) {
  while (!bytes.empty() && mark_bytes < byte_order_mark.size() && bytes[0] == byte_order_mark[mark_bytes]) {
    bytes.remove_prefix(1);
    ++mark_bytes;
  }
  if (mark_bytes == byte_order_mark.size()) {
    at_start = false;
  } else if (!bytes.empty()) {
    hash(byte_order_mark.substr(0, mark_bytes));
    at_start = false;
  }
  return bytes;
}

void Checksum::State::text(std::string_view bytes) {
  while (!bytes.empty()) {
    if (after_cr && bytes[0] == '\n') bytes.remove_prefix(1);
    after_cr = false;
    const auto end = bytes.find('\r');
    lines(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    ++line_ends;
    after_cr = true;
    bytes.remove_prefix(end + 1);
  }
}

void Checksum::State::lines(std::string_view bytes) {
  const auto last = bytes.find_last_not_of('\n');
  if (last == std::string_view::npos) {
    line_ends += bytes.size();
    return;
  }
  static const std::string line_feeds(64, '\n');
  while (line_ends > 0) {
    const auto some = std::min(line_ends, line_feeds.size());
    hash(std::string_view(line_feeds).substr(0, some));
    line_ends -= some;
  }
  hash(bytes.substr(0, last + 1));
  line_ends = bytes.size() - last - 1;
}

Checksum::Checksum() : state_(std::make_unique<State>()) {}
Checksum::~Checksum() = default;

void Checksum::update(std::string_view bytes) {
  if (state_->at_start) bytes = state_->without_mark(bytes);
  state_->text(bytes);
}

std::string Checksum::finish() {
  if (state_->at_start) state_->hash(byte_order_mark.substr(0, state_->mark_bytes));
  Digest digest{};
  require(EVP_DigestFinal_ex(state_->context.get(), digest.data(), nullptr) == 1);
  return hexadecimal("sha256:", digest);
}

void prepare_checksums() {
  algorithm_sha256();
}

std::string checksum(std::string_view bytes) {
  Checksum sum;
  sum.update(bytes);
  return sum.finish();
}

Digest sha256(std::string_view bytes) {
  Digest digest{};
  require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm_sha256(), nullptr) == 1);
  return digest;
}

std::int32_t sha256_prefix(std::string_view text) {
  const auto digest = sha256(text);
  std::uint32_t prefix = 0;
  for (std::size_t i = 0; i < 4; ++i) prefix = prefix << 8U | digest[i];
  return static_cast<std::int32_t>(prefix);
}

}  // namespace lockstep
