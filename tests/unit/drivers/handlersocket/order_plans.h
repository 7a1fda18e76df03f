// Plans of every form that the protocol has, on a table with a key of two columns, further indexes
// and columns of several types, and on one whose rows the server numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "drivers/core/operation.h"

namespace cavalry::drivers::handlersocket {

class OrderPlans {
 public:
  enum Index : std::uint32_t {
    kLine,         // read of NAME by the whole key
    kLines,        // multi_read of two keys of two columns each
    kTickets,      // multi_read of three keys of one column
    kRange,        // scan: the key's first column, >=
    kByName,       // scan of index by_name, =, with filters
    kSomeTickets,  // scan with a list
    kAddLines,     // insert of two rows
    kNewTicket,    // insert without the number
    kRename,       // update of NAME, which is returned as it was
    kRemove,       // delete that returns the row
    kDropTicket,   // delete
    kUp,           // increment of QTY by 5
    kDown,         // and by -2
    kDownAndTell,  // by -2, returned as it was
  };

  OrderPlans();
  OrderPlans(const OrderPlans&) = delete;
  OrderPlans& operator=(const OrderPlans&) = delete;

  const std::vector<OperationPlan>& all() const { return plans_; }
  std::vector<OperationPlan>& all() { return plans_; }
  OperationPlan& at(Index index) { return plans_[index]; }
  // O_ID int, O_LINE smallint, NAME varchar(20), QTY int NULL, NOTE text NULL.
  TableSchema& lines() { return lines_; }
  // T_ID bigint auto_increment, WHAT varchar(20).
  TableSchema& tickets() { return tickets_; }

 private:
  TableSchema lines_;
  TableSchema tickets_;
  std::vector<OperationPlan> plans_;
};

}  // namespace cavalry::drivers::handlersocket
