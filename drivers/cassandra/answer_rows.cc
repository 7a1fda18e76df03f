#include "drivers/cassandra/answer_rows.h"

#include <algorithm>

#include "drivers/cassandra/prepared.h"
#include "drivers/cassandra/value_format.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::int32_t kGlobalTable = 0x1;
constexpr std::int32_t kMorePages = 0x2;
constexpr std::int32_t kNoMetadata = 0x4;
constexpr std::int32_t kMetadataChanged = 0x8;
constexpr std::int32_t kMaxColumns = 65'535;
// A value has at least its length.
constexpr std::size_t kLeastValueBytes = 4;

}  // namespace

bool AnswerRows::ReadHead(WireReader* reader, AnswerHead* head) {
  const std::int32_t flags = reader->Int();
  head->columns = reader->Int();
  if (!reader->ok() || head->columns < 0 || head->columns > kMaxColumns) return false;
  head->more_pages = (flags & kMorePages) != 0;
  if (head->more_pages) {
    bool is_null = false;
    head->paging_state = reader->Bytes(&is_null);
  }
  if ((flags & kMetadataChanged) != 0) head->new_result_id = reader->String();
  type_codes_.clear();
  if ((flags & kNoMetadata) == 0) {
    const bool global = (flags & kGlobalTable) != 0;
    if (global) {
      reader->String();
      reader->String();
    }
    for (std::int32_t i = 0; i < head->columns && reader->ok(); ++i) {
      if (!global) {
        reader->String();
        reader->String();
      }
      reader->String();
      type_codes_.push_back(ReadType(reader));
    }
  }
  head->rows = reader->Int();
  // So that a count cannot outrun what there is.
  const std::size_t least = static_cast<std::size_t>(head->columns) * kLeastValueBytes;
  return reader->ok() && head->rows >= 0 &&
         (head->rows == 0 || (head->columns > 0 && static_cast<std::size_t>(head->rows) <=
                                                       reader->rest().size() / least));
}

bool AnswerRows::ReadApplied(WireReader reader, bool* applied) {
  bool is_null = false;
  const std::string_view value = reader.Bytes(&is_null);
  if (!reader.ok() || value.size() != 1) return false;
  *applied = value.front() != 0;
  return true;
}

bool AnswerRows::ReadRows(WireReader* reader, const AnswerHead& head, const StatementPlan& plan,
                          RowVisitor* visitor) {
  const auto columns = static_cast<std::size_t>(head.columns);
  bool is_null = false;
  if (visitor == nullptr) {
    for (std::int32_t row = 0; row < head.rows && reader->ok(); ++row) {
      for (std::size_t i = 0; i < columns; ++i) reader->Bytes(&is_null);
    }
    return reader->ok();
  }
  const bool planned = !plan.columns.empty();
  if (planned ? plan.columns.size() != columns : type_codes_.size() != columns) return false;
  if (planned) {
    types_.clear();
    for (const Column& column : plan.columns) types_.push_back(CqlTypeOf(column.type));
  }
  if (fields_.size() < columns) fields_.resize(columns);
  scratch_.reserve(columns * kMaxPrinted);
  for (std::int32_t row = 0; row < head.rows; ++row) {
    scratch_.clear();
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string_view bytes = reader->Bytes(&is_null);
      if (!reader->ok()) return false;
      Field& field = fields_[i];
      field.is_null = is_null;
      field.text = {};
      if (is_null) continue;
      // An empty value of a type that has none is no value.
      const bool read =
          planned ? PrintValue(types_[i], plan.columns[i].type, bytes, &scratch_, &field.text)
                  : PrintByCode(type_codes_[i], bytes, &scratch_, &field.text);
      if (!read) return false;
    }
    visitor->OnRow({fields_.data(), columns});
  }
  return true;
}

}  // namespace cavalry::drivers::cassandra
