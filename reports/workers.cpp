// Processes under mpirun, where MPI was found.
#include "sextant/reports/workers.hpp"

#include <cstdlib>
#include <exception>
#include <utility>

#include "sextant/reference/error.hpp"

#ifdef SEXTANT_WITH_MPI
#include <mpi.h>
#endif

namespace sextant {
namespace {

/// What Open MPI and other launchers tell their processes.
int launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return 1;
}

}  // namespace

bool Workers::speaks() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value) == 0;
  }
  return true;
}

Workers::Workers(Workers&& other) noexcept
    : index_(other.index_), count_(other.count_), joined_(std::exchange(other.joined_, false)) {}

#ifdef SEXTANT_WITH_MPI

Workers Workers::start() {
  Workers workers;
  if (launched_processes() <= 1) return workers;
  MPI_Init(nullptr, nullptr);
  workers.joined_ = true;
  MPI_Comm_rank(MPI_COMM_WORLD, &workers.index_);
  MPI_Comm_size(MPI_COMM_WORLD, &workers.count_);
  return workers;
}

Workers::~Workers() {
  if (!joined_) return;
  if (working_ && std::uncaught_exceptions() > 0) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Finalize();
}

std::vector<std::string> Workers::gather(const std::string& text) const {
  int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(count_)), offsets(lengths.size());
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int total = 0;
  if (index_ == 0) {
    for (std::size_t i = 0; i < lengths.size(); ++i) offsets[i] = std::exchange(total, total + lengths[i]);
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0,
              MPI_COMM_WORLD);
  std::vector<std::string> parts;
  if (index_ != 0) return parts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    parts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  }
  return parts;
}

#else

Workers Workers::start() {
  if (launched_processes() > 1) {
    throw InputError(
        "this sextant was built without MPI, and every process would do the whole sweep; use --shard i/n and "
        "sextant merge");
  }
  return {};
}

Workers::~Workers() = default;

std::vector<std::string> Workers::gather(const std::string& text) const { return {text}; }

#endif

}  // namespace sextant
