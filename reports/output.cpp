// Files by rename, progress by carriage return.
#include "sextant/reports/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

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

/// A device or a pipe cannot be renamed onto: it is written straight.
bool is_file(const std::string& path) {
  std::error_code ignored;
  return path != "-" &&
         (!std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored));
}

void write_straight(const std::string& path, std::string_view content) {
  if (path == "-") {
    std::fflush(stdout);
    write_all(STDOUT_FILENO, content, "standard output");
    return;
  }
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(path, errno);
  write_all(descriptor, content, path);
  close(descriptor);
}

/// A file written beside its target, which it replaces when it is kept, and else is gone.
class Staged {
 public:
  Staged(std::string path, std::string_view content) : path_(std::move(path)) {
    // A link stays a link, and a file keeps its mode.
    std::error_code ignored;
    const bool known = std::filesystem::exists(path_, ignored);
    target_ = known ? std::filesystem::canonical(path_).string() : path_;
    temporary_ = beside(target_);
    const int descriptor = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) cannot_write(path_, errno);
    try {
      struct stat status {};
      if (known && stat(target_.c_str(), &status) == 0) fchmod(descriptor, status.st_mode & 07777);
      write_all(descriptor, content, path_);
      if (close(descriptor) != 0) cannot_write(path_, errno);
    } catch (...) {
      unlink(temporary_.c_str());
      throw;
    }
  }
  Staged(Staged&& other) noexcept
      : path_(std::move(other.path_)),
        target_(std::move(other.target_)),
        temporary_(std::exchange(other.temporary_, {})) {}
  Staged& operator=(Staged&&) = delete;
  ~Staged() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }

  void keep() {
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) cannot_write(path_, errno);
    temporary_.clear();
  }

 private:
  std::string path_, target_, temporary_;
};

/// The same file, whatever its names; of files that are not there yet, the same place.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  return place(a) == place(b);
}

}  // namespace

void write_document(const std::string& path, std::string_view content) {
  if (is_file(path)) {
    Staged(path, content).keep();
  } else {
    write_straight(path, content);
  }
}

void write_documents(const std::vector<Document>& outputs) {
  std::vector<Staged> files;
  for (const Document& output : outputs) {
    if (is_file(output.path)) files.emplace_back(output.path, output.content);
  }
  for (const Document& output : outputs) {
    if (!is_file(output.path)) write_straight(output.path, output.content);
  }
  for (Staged& file : files) file.keep();
}

void check_writable(const std::string& path) {
  if (path == "-") return;
  if (std::filesystem::is_directory(path))
    throw InputError(fmt::format("cannot write {}: it is a directory", path));
  if (!is_file(path)) return;
  // Renaming would replace a file that its owner made read-only.
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0) cannot_write(path, errno);
  const std::string temporary = beside(path);
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_write(path, errno);
  close(descriptor);
  unlink(temporary.c_str());
}

void check_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs) {
  std::vector<std::string> seen;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    check_writable(path);
    const auto same = [&](const std::string& other) { return path == other || same_file(path, other); };
    if (std::any_of(seen.begin(), seen.end(), same))
      throw InputError(fmt::format("two options both name {}", path));
    if (std::any_of(inputs.begin(), inputs.end(), same))
      throw InputError(fmt::format("{} is read, and would be overwritten: name another file", path));
    seen.push_back(path);
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
