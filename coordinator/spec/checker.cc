#include "coordinator/spec/checker.h"

#include <algorithm>

#include "coordinator/spec/spec_check.h"

namespace cavalry::spec {
namespace {

constexpr std::size_t kMaxNameLength = 64;

template <typename List>
const auto* FindByName(const List& list, std::string_view name) {
  using Element = typename List::value_type;
  for (const Element& element : list) {
    if (element.name() == name) return &element;
  }
  return static_cast<const Element*>(nullptr);
}

bool IsWordCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

// Characters of UTF-8, which the loader has checked.
std::size_t CountCharacters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++count;
  }
  return count;
}

}  // namespace

Checker::Checker(const SpecDocument& document, FaultList* faults)
    : document_(document), filled_(document.workload), faults_(faults) {
  ApplyDefaults(&filled_);
}

void Checker::Fault(std::string_view path, std::string_view text) {
  const std::string place = document_.Where(path);
  const bool place_says_path = path.empty() || place == fmt::format("--set {}", path);
  faults_->AddAt(place, place_says_path ? std::string(text) : fmt::format("{}: {}", path, text));
}

const v1::Target* Checker::FindTarget(std::string_view name) const {
  return FindByName(filled_.targets(), name);
}
const v1::Table* Checker::FindTable(std::string_view name) const {
  return FindByName(filled_.tables(), name);
}
const v1::OperationSpec* Checker::FindOperation(std::string_view name) const {
  return FindByName(filled_.operations(), name);
}

std::vector<std::string> Checker::TargetNames() const {
  std::vector<std::string> names;
  for (const v1::Target& target : filled_.targets()) names.push_back(target.name());
  return names;
}

const v1::ColumnSpec* FindColumn(const v1::Table& table, std::string_view name) {
  return FindByName(table.columns(), name);
}

std::vector<std::string> ColumnNames(const v1::Table& table) {
  std::vector<std::string> names;
  for (const v1::ColumnSpec& column : table.columns()) names.push_back(column.name());
  return names;
}

bool IsKeyColumn(const v1::Table& table, std::string_view column) {
  return std::find(table.primary_key().begin(), table.primary_key().end(), column) !=
         table.primary_key().end();
}

const v1::ColumnSpec* AutoIncrementColumn(const v1::Table& table) {
  for (const v1::ColumnSpec& column : table.columns()) {
    if (column.auto_increment()) return &column;
  }
  return nullptr;
}

void CheckPositive(std::string_view path, std::uint64_t value, std::uint64_t highest,
                   Checker* checker) {
  if (value < 1) {
    checker->Fault(path, "must be at least 1");
  } else if (value > highest) {
    checker->Fault(path, "{} is too large: at most {}", value, highest);
  }
}

void CheckWord(std::string_view path, std::string_view name, Checker* checker) {
  bool good = !name.empty() && name.size() <= kMaxNameLength;
  for (const char c : name) good = good && IsWordCharacter(c);
  if (!good) {
    checker->Fault(path, "'{}' is not a name: 1 to {} letters, digits, '_', '.' and '-'", name,
                   kMaxNameLength);
  }
}

void CheckIdentifier(std::string_view path, std::string_view what, std::string_view name,
                     Checker* checker) {
  if (name.empty()) {
    checker->Fault(path, "the {} has no name", what);
  } else if (CountCharacters(name) > kMaxNameLength) {
    checker->Fault(path, "the {}'s name is longer than {} characters", what, kMaxNameLength);
  } else if (name.find('\0') != std::string_view::npos || name.back() == ' ') {
    checker->Fault(path, "the {}'s name must not hold a NUL character or end with a space", what);
  }
}

}  // namespace cavalry::spec
