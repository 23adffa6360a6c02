// Where text and documents go: standard output, standard error, files written whole or not at all, progress.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// Writes `content` to `path`, or to standard output for "-". A file appears whole under its name or not at
/// all: it is written beside its target and renamed. Throws InputError where that cannot be.
void write_document(const std::string& path, std::string_view content);

struct Document {
  std::string path, content;
};
/// write_document for each, but no file appears unless all could be written.
void write_documents(const std::vector<Document>& outputs);

/// Throws InputError unless write_document(path, ..) can be expected to succeed: asked before long work
/// starts.
void check_writable(const std::string& path);

/// check_writable for each that is given. Throws InputError too where two of them are the same file, or one
/// of them is among the inputs.
void check_outputs(const std::vector<std::string>& paths, const std::vector<std::string>& inputs = {});

/// Prints to standard error; what cannot be said there is dropped, for an error must not become another.
void complain(std::string_view text);

/// Prints text for people to standard output, or to standard error where a document has the standard output.
void print_text(std::string_view text, bool to_standard_error);

/// `text` with control characters made visible, for messages that quote input.
[[nodiscard]] std::string printable(std::string_view text);

[[nodiscard]] bool is_terminal(int descriptor);
/// A terminal, and no NO_COLOR in the environment.
[[nodiscard]] bool wants_colours(int descriptor);

/// Progress of long work on standard error: a line that is redrawn on a terminal, nothing in a pipe.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done, std::size_t total, std::string_view what);

 private:
  bool on_terminal_;
  bool shown_ = false;
};

}  // namespace sextant
