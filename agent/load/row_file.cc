#include "agent/load/row_file.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/base/file.h"
#include "core/base/random.h"

namespace cavalry::load {
namespace {

using drivers::Value;

constexpr std::string_view kNull = "\\N";
constexpr std::size_t kMaxShown = 40;

std::string_view Shown(std::string_view field) { return field.substr(0, kMaxShown); }

std::size_t CountCharacters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

Status CheckInteger(std::string_view field, const ColumnType& type) {
  std::int64_t negative = 0;
  std::uint64_t number = 0;
  const bool fits = field.starts_with('-')
                        ? ParseNumber(field, &negative) && negative >= type.integer_min()
                        : ParseNumber(field, &number) && number <= type.integer_max();
  return fits ? absl::OkStatus()
              : InvalidArgument("'{}' is no number for {}", Shown(field), type.sql);
}

Status CheckField(std::string_view field, const drivers::Column& column) {
  const ColumnType& type = column.type;
  if (field == kNull) {
    return column.nullable ? absl::OkStatus() : InvalidArgument("NULL, but it is not nullable");
  }
  if (type.is_integer()) return CheckInteger(field, type);
  if (type.length == 0) return absl::OkStatus();
  const bool in_characters =
      type.kind == ColumnType::Kind::kChar || type.kind == ColumnType::Kind::kVarchar;
  const std::size_t length = in_characters ? CountCharacters(field) : field.size();
  if (length <= type.length) return absl::OkStatus();
  return InvalidArgument("'{}' is {} long, and {} holds {}", Shown(field), length, type.sql,
                         type.length);
}

// Takes the next line off the text, without its end.
std::string_view TakeLine(std::string_view* text) {
  const std::size_t end = std::min(text->find('\n'), text->size());
  std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Where the fields of a line end. A | at the end closes the last field and begins none.
Status SplitLine(std::string_view line, char separator, std::size_t columns,
                 std::vector<std::uint32_t>* ends) {
  if (separator == '|' && line.ends_with('|')) line.remove_suffix(1);
  std::size_t fields = 0;
  for (std::size_t begin = 0; begin <= line.size(); ++fields) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    if (fields < columns) ends->push_back(static_cast<std::uint32_t>(end));
    begin = end + 1;
  }
  if (fields == columns) return absl::OkStatus();
  return InvalidArgument("{} fields, but the table has {} columns", fields, columns);
}

}  // namespace

StatusOr<std::shared_ptr<const RowFile>> RowFile::Load(const std::string& path,
                                                       const drivers::TableSchema& table) {
  CAVALRY_ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMaxRowFileBytes));
  return Parse(std::move(text), path, table);
}

StatusOr<std::shared_ptr<const RowFile>> RowFile::Parse(std::string text, const std::string& path,
                                                        const drivers::TableSchema& table) {
  std::shared_ptr<RowFile> file(new RowFile);
  file->text_ = std::move(text);
  for (const drivers::Column& column : table.columns) file->types_.push_back(column.type);
  std::string_view rest = file->text_;
  const char separator =
      rest.substr(0, rest.find('\n')).find('|') != std::string_view::npos ? '|' : ',';
  for (std::uint64_t row = 1; row <= table.rows; ++row) {
    if (rest.empty()) {
      return InvalidArgument("{}: {} lines, but the table '{}' has {} rows", path, row - 1,
                             table.name, table.rows);
    }
    const char* const begin = rest.data();
    const std::string_view line = TakeLine(&rest);
    file->starts_.push_back(static_cast<std::uint64_t>(begin - file->text_.data()));
    const Status split = SplitLine(line, separator, table.columns.size(), &file->ends_);
    if (!split.ok()) return Annotate(split, fmt::format("{}:{}", path, row));
    std::size_t from = 0;
    const std::uint32_t* const ends = &file->ends_[(row - 1) * table.columns.size()];
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string_view field = line.substr(from, ends[i] - from);
      from = ends[i] + std::size_t{1};
      Status status = CheckField(field, table.columns[i]);
      // Keys are drawn as row numbers.
      if (status.ok() && table.key_is_number && i == table.key_columns.front() &&
          field != fmt::format("{}", row)) {
        status = InvalidArgument("key '{}', but the rows must be in order from 1", Shown(field));
      }
      if (!status.ok()) {
        return Annotate(status, fmt::format("{}:{}: {}", path, row, table.columns[i].name));
      }
    }
  }
  const auto used = file->text_.size() - rest.size();
  file->hash_ = HashText(std::string_view(file->text_).substr(0, used));
  return std::shared_ptr<const RowFile>(std::move(file));
}

Value RowFile::Read(std::uint64_t row, std::uint32_t column) const {
  const std::uint32_t* const ends = &ends_[(row - 1) * types_.size()];
  const std::size_t begin = column == 0 ? 0 : ends[column - 1] + std::size_t{1};
  const std::string_view field =
      std::string_view(text_).substr(starts_[row - 1] + begin, ends[column] - begin);
  const ColumnType& type = types_[column];
  if (field == kNull) return Value::Null();
  if (!type.is_integer()) return type.is_binary() ? Value::Binary(field) : Value::Text(field);
  if (field.starts_with('-')) {
    std::int64_t number = 0;
    ParseNumber(field, &number);
    return Value::Integer(number);
  }
  std::uint64_t number = 0;
  ParseNumber(field, &number);
  return Value::Unsigned(number);
}

}  // namespace cavalry::load
