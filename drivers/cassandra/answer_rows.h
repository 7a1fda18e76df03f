// The rows of a RESULT: native protocol, section 4.2.5.2. Reads the metadata, then hands each row
// on as SQL prints it. Reused from answer to answer, so that it allocates nothing after warm-up.
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/cassandra/statement.h"
#include "drivers/cassandra/wire.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers::cassandra {

struct AnswerHead {
  std::int32_t columns = 0;
  std::int32_t rows = 0;
  bool more_pages = false;
  std::string_view paging_state;   // of the answer's bytes
  std::string_view new_result_id;  // v5; empty: as it was
};

class AnswerRows {
 public:
  // Reads what follows the RESULT's kind up to the first row. False: malformed.
  bool ReadHead(WireReader* reader, AnswerHead* head);
  // Whether the first column of the first row, "[applied]", is true. REQUIRES: head.rows > 0.
  static bool ReadApplied(WireReader reader, bool* applied);
  // Hands on or, where `visitor` is null, steps over all rows. False: malformed.
  bool ReadRows(WireReader* reader, const AnswerHead& head, const StatementPlan& plan,
                RowVisitor* visitor);

 private:
  std::vector<std::uint16_t> type_codes_;  // of the answer's own metadata; empty: it had none
  std::vector<CqlType> types_;             // of the plan's columns
  std::vector<Field> fields_;
  std::string scratch_;
};

}  // namespace cavalry::drivers::cassandra
