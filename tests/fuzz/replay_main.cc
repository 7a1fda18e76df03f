// Runs a fuzz target without libFuzzer, so that every compiler and sanitizer can: once for each
// file of the given folders (a corpus, past crashes), then for generated inputs.
//   TARGET FOLDER|FILE... [--random N] [--seed S] [--verbose]
// Generated inputs are mutations of the files, the same for the same seed. --verbose names each
// input before it is run: the last name is the one that failed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kMaxInputBytes = 1 << 20;

struct Options {
  std::vector<std::filesystem::path> paths;
  std::uint64_t random = 0;
  std::uint64_t seed = 1;
  bool verbose = false;
};

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--verbose") {
      options.verbose = true;
    } else if (word == "--random" && i + 1 < argc) {
      options.random = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--seed" && i + 1 < argc) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      options.paths.emplace_back(word);
    }
  }
  return options;
}

std::vector<std::filesystem::path> FilesOf(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  // Directory order differs between machines; mutations must not.
  std::sort(files.begin(), files.end());
  return files;
}

void Run(const std::string& input, const std::string& name, bool verbose) {
  if (verbose) std::fprintf(stderr, "%s (%zu bytes)\n", name.c_str(), input.size());
  // A copy of exactly this size, so that a sanitizer sees a read one byte too far.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// One small change: a bit, a byte, a cut, a repeated piece, or a piece of another input.
void Mutate(std::mt19937_64* random, const std::string& other, std::string* input) {
  const auto below = [random](std::size_t bound) { return bound == 0 ? 0 : (*random)() % bound; };
  const std::size_t at = below(input->size() + 1);
  const std::size_t length = below(std::min<std::size_t>(input->size() - at, 16) + 1);
  switch (below(6)) {
    case 0:
      if (at < input->size()) (*input)[at] = static_cast<char>((*input)[at] ^ (1 << below(8)));
      break;
    case 1:
      if (at < input->size()) (*input)[at] = static_cast<char>(below(256));
      break;
    case 2:
      input->erase(at, length);
      break;
    case 3:
      input->insert(at, 1 + below(8), static_cast<char>(below(256)));
      break;
    case 4:
      input->insert(at, input->substr(at, length));
      break;
    default:
      input->replace(at, length, other.substr(below(other.size() + 1), 1 + below(16)));
  }
  if (input->size() > kMaxInputBytes) input->resize(kMaxInputBytes);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  std::vector<std::string> inputs;
  for (const std::filesystem::path& file : FilesOf(options.paths)) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 1;
    }
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    Run(inputs.back(), file.string(), options.verbose);
  }
  if (inputs.empty()) {
    // A moved corpus must not look like a passed test.
    std::fprintf(stderr, "no input; usage: %s FOLDER|FILE... [--random N] [--seed S]\n", argv[0]);
    return 1;
  }
  std::mt19937_64 random(options.seed);
  for (std::uint64_t round = 0; round < options.random; ++round) {
    std::string input = inputs[random() % inputs.size()];
    const std::uint64_t changes = 1 + random() % 4;
    for (std::uint64_t i = 0; i < changes; ++i) {
      Mutate(&random, inputs[random() % inputs.size()], &input);
    }
    Run(input, "mutation " + std::to_string(round), options.verbose);
  }
  std::printf("%zu files and %llu mutations\n", inputs.size(),
              static_cast<unsigned long long>(options.random));
  return 0;
}
