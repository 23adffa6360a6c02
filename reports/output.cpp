// Files by rename, progress by carriage return.
#include "sextant/reports/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "sextant/reference/error.hpp"

namespace sextant {
namespace {

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw InputError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

void write_all(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string beside(const std::string& path) { return fmt::format("{}.{}.tmp", path, getpid()); }

}  // namespace

void write_document(const std::string& path, std::string_view content) {
  if (path == "-") {
    std::fflush(stdout);
    write_all(STDOUT_FILENO, content, "standard output");
    return;
  }
  // A device or a pipe cannot be renamed onto: it is written straight.
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) cannot_write(path, errno);
    write_all(descriptor, content, path);
    close(descriptor);
    return;
  }
  // A link stays a link, and a file keeps its mode.
  const bool known = std::filesystem::exists(path, ignored);
  const std::string target = known ? std::filesystem::canonical(path).string() : path;
  const std::string temporary = beside(target);
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_write(path, errno);
  try {
    struct stat status {};
    if (known && stat(target.c_str(), &status) == 0) fchmod(descriptor, status.st_mode & 07777);
    write_all(descriptor, content, path);
    if (close(descriptor) != 0) cannot_write(path, errno);
    if (std::rename(temporary.c_str(), target.c_str()) != 0) cannot_write(path, errno);
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
}

void check_writable(const std::string& path) {
  if (path == "-") return;
  if (std::filesystem::is_directory(path))
    throw InputError(fmt::format("cannot write {}: it is a directory", path));
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) return;
  const std::string temporary = beside(path);
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_write(path, errno);
  close(descriptor);
  unlink(temporary.c_str());
}

void check_outputs(const std::vector<std::string>& paths) {
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    check_writable(path);
    if (!seen.insert(path).second) throw InputError(fmt::format("two options both name {}", path));
  }
}

void complain(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void print_text(std::string_view text, bool to_standard_error) {
  if (to_standard_error) {
    complain(text);
  } else {
    write_document("-", text);
  }
}

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      result +=
          code == '\n' || code == '\t' || code == '\r' ? std::string(" ") : fmt::format("\\x{:02x}", code);
    } else {
      result += c;
    }
  }
  return result;
}

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

bool wants_colours(int descriptor) { return is_terminal(descriptor) && std::getenv("NO_COLOR") == nullptr; }

Progress::Progress() : on_terminal_(is_terminal(STDERR_FILENO)) {}

Progress::~Progress() {
  if (shown_) complain("\r\033[K");
}

void Progress::show(std::size_t done, std::size_t total, std::string_view what) {
  if (!on_terminal_) return;
  shown_ = true;
  complain(fmt::format("\r\033[K[{}/{}] {}", done, total, what.substr(0, 60)));
}

}  // namespace sextant
