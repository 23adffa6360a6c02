// The processes of an mpirun that share one sweep: one process where there is no MPI, or none was started by
// it.
#pragma once
#include <string>
#include <vector>

namespace sextant {

class Workers {
 public:
  /// Joins the processes that mpirun started. A binary without MPI, started by mpirun with several processes,
  /// throws InputError: each would do the whole work.
  [[nodiscard]] static Workers start();
  /// False in all processes of an mpirun but the first: what all would say is said once.
  [[nodiscard]] static bool speaks();
  ~Workers();
  Workers(Workers&& other) noexcept;
  Workers& operator=(Workers&&) = delete;

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] int count() const { return count_; }
  /// The texts of all processes in order of index, at process 0; elsewhere nothing.
  /// From here on an exception ends the siblings too: they would wait for this process's part for ever.
  /// Before, all fail alike.
  void begin_work() { working_ = true; }
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) const;

 private:
  Workers() = default;
  int index_ = 0;
  int count_ = 1;
  bool joined_ = false;
  bool working_ = false;
};

}  // namespace sextant
