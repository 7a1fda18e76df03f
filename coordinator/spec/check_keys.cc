#include "coordinator/spec/checker.h"
#include "coordinator/spec/spec_check.h"
#include "core/wire/operation_keys.h"

namespace cavalry::spec {
namespace {

constexpr double kMaxTheta = 5;

void CheckTheta(const std::string& path, double theta, Checker* checker) {
  if (theta > 0 && theta <= kMaxTheta) return;
  checker->Fault(path, "the exponent must be above 0 and at most {}", kMaxTheta);
}

template <typename Shares>
void CheckShares(const std::string& path, const Shares& shares, Checker* checker) {
  for (const auto& [name, percent] :
       {std::pair{"keys_percent", shares.keys_percent()},
        std::pair{"operations_percent", shares.operations_percent()}}) {
    if (percent > 0 && percent < 100) continue;
    checker->Fault(fmt::format("{}.{}", path, name), "must be above 0 and below 100");
    return;
  }
  if (shares.operations_percent() > shares.keys_percent()) return;
  checker->Fault(path,
                 "{} % of the operations on {} % of the keys: no few keys get more than the "
                 "others; raise operations_percent",
                 shares.operations_percent(), shares.keys_percent());
}

void CheckRange(const std::string& path, const v1::Range& range, const v1::Table& table,
                Checker* checker) {
  const bool default_range = range.first() == 1 && range.last() == table.rows();
  if (table.rows() == 0 && default_range) {
    checker->Fault(path, table.existing() == v1::EXISTING_USE
                             ? "give the range of keys, as in 'uniform: 1..1000': the rows of an "
                               "existing table are not counted"
                             : "the table has no rows to work on; give it 'rows'");
    return;
  }
  // Of a table that is used as it is, nobody here knows the rows unless the spec says them.
  const bool unknown_rows = table.existing() == v1::EXISTING_USE && table.rows() == 0;
  if (range.first() > range.last()) return;  // a fault of every range, found elsewhere
  const std::uint64_t rows = table.rows() + RowsOfStages(checker->filled(), table.name());
  if (range.first() < 1 || (range.last() > rows && !unknown_rows)) {
    checker->Fault(path, "keys {}..{} are not all in 1..{}, the rows of table '{}'", range.first(),
                   range.last(), rows, table.name());
  }
}

// A key is known by its row's number, which the server has not told when it numbers the rows.
void CheckSource(const std::string& path, const std::string& source, Checker* checker) {
  const v1::OperationSpec* operation = checker->FindOperation(source);
  if (operation == nullptr) return;  // a fault of its reference
  if (operation->has_insert()) {
    const v1::Table* table = checker->FindTable(operation->insert().table());
    if (table == nullptr || AutoIncrementColumn(*table) == nullptr) return;
    checker->Fault(path, "the server numbers the rows of '{}', so the key of '{}' is not known",
                   table->name(), source);
    return;
  }
  const bool one_key = operation->has_read() || operation->has_scan() || operation->has_update() ||
                       operation->has_delete_() || operation->has_increment() ||
                       operation->has_native();
  if (!one_key) checker->Fault(path, "'{}' has not one key that could be taken", source);
}

}  // namespace

void CheckKeys(const std::string& path, const v1::Keys& keys, const v1::Table& table,
               Checker* checker) {
  switch (keys.sequence_case()) {
    case v1::Keys::kZipf:
      CheckTheta(path + ".zipf", keys.zipf().theta(), checker);
      break;
    case v1::Keys::kLatest:
      CheckTheta(path + ".latest", keys.latest().theta(), checker);
      if (AutoIncrementColumn(table) != nullptr) {
        checker->Fault(path + ".latest",
                       "the server numbers the rows of '{}', so the newest key is not known",
                       table.name());
      }
      break;
    case v1::Keys::kHotspot:
      CheckShares(path + ".hotspot", keys.hotspot(), checker);
      break;
    case v1::Keys::kExponential:
      CheckShares(path + ".exponential", keys.exponential(), checker);
      break;
    case v1::Keys::kFromFile:
      if (keys.from_file().path().empty()) {
        checker->Fault(path + ".from_file", "needs the path of a file on the agents' hosts");
      }
      break;
    case v1::Keys::kSameAs:
      CheckSource(path + ".same_as", keys.same_as(), checker);
      break;
    default:
      break;
  }
  if (const v1::Range* range = wire::RangeOf(keys)) CheckRange(path, *range, table, checker);
}

}  // namespace cavalry::spec
