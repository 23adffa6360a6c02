// The schema of run documents, asked by Python.
#pragma once
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace sextant {

/// What Python's jsonschema says of documents against reports/run.schema.json: 0 valid, 1 not, 3 not there.
inline int validated(const std::vector<std::string>& documents) {
  char name[] = "/tmp/sextant_test.XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  for (std::size_t i = 0; i < documents.size(); ++i)
    std::ofstream(folder / std::to_string(i)) << documents[i];
  std::ofstream(folder / "validate.py") << R"(
import json, os, sys
try:
    import jsonschema
except ImportError:
    sys.exit(3)
schema = json.load(open(sys.argv[1]))
validator = jsonschema.Draft202012Validator(schema)
validator.check_schema(schema)
for name in sorted(n for n in os.listdir(sys.argv[2]) if n.isdigit()):
    for error in validator.iter_errors(json.load(open(os.path.join(sys.argv[2], name)))):
        sys.exit(f"{name}: {error.json_path}: {error.message[:200]}")
)";
  int status = 3;
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    const int ended = std::system(fmt::format("{} {}/validate.py {}/reports/run.schema.json {}", python,
                                              folder.string(), SEXTANT_SOURCE_DIR, folder.string())
                                      .c_str());
    status = WEXITSTATUS(ended);
    if (status < 3) break;
  }
  std::filesystem::remove_all(folder);
  return status;
}

}  // namespace sextant
