#include "drivers/handlersocket/server_errors.h"

#include <array>

namespace cavalry::drivers::handlersocket {
namespace {

struct Meaning {
  std::string_view text;
  ServerError error;
};

// A write refused for its own row, or whose transaction was rolled back, is known not to have been
// done. After a table was found full, broken or out of memory the engine may have got half-way, and
// MyISAM rolls nothing back. 149 also undoes earlier lines of the same batch that were answered
// "0 1" already (only reading back shows that), and later lines of it are answered 200.
constexpr std::array<Meaning, 29> kServerErrors = {{
    {"lock_tables",
     {"the tables could not be locked: another client holds the advisory lock handlersocket_wr, or "
      "LOCK TABLES, for longer than handlersocket_wrlock_timeout",
      true}},
    {"open_table", {"there is no such table or database, or it could not be opened", true}},
    {"121", {"duplicate key (handler error 121)", true}},
    {"122", {"internal error of the storage engine (handler error 122)", false}},
    {"123", {"the row was changed since it was read (handler error 123)", true, true}},
    {"126", {"the index file is crashed (handler error 126)", false}},
    {"127", {"the record file is crashed (handler error 127)", false}},
    {"128", {"out of memory (handler error 128)", false}},
    {"131", {"the storage engine does not support this command (handler error 131)", true}},
    {"134", {"the row was deleted meanwhile (handler error 134)", true}},
    {"135", {"no more room in the record file (handler error 135)", false}},
    {"136", {"no more room in the index file (handler error 136)", false}},
    {"138", {"not supported by the storage engine (handler error 138)", true}},
    {"139", {"the row is too big (handler error 139)", true}},
    {"141", {"duplicate key of a unique constraint (handler error 141)", true}},
    {"144", {"the table is crashed and its last repair failed (handler error 144)", false}},
    {"145", {"the table was marked as crashed (handler error 145)", false}},
    {"146",
     {"lock wait timeout: another transaction holds the row (handler error 146)", true, true}},
    {"147", {"the lock table is full (handler error 147)", true}},
    {"149",
     {"deadlock: the server rolled back this batch, also what it had acknowledged of it (handler "
      "error 149)",
      true, true}},
    {"150", {"a foreign key is not set up correctly (handler error 150)", true}},
    {"151", {"a foreign key's parent row is missing (handler error 151)", true}},
    {"152", {"the row is referenced by a foreign key (handler error 152)", true}},
    {"159", {"the table's definition has changed (handler error 159)", true}},
    {"165", {"the table is read only (handler error 165)", true}},
    {"167", {"the auto-increment value is out of range (handler error 167)", true}},
    {"177", {"too many active concurrent transactions (handler error 177)", true}},
    {"189", {"the disk is full (handler error 189)", false}},
    {"200",
     {"an earlier line of this batch ended the transaction, so this one was not done (handler "
      "error 200)",
      true, true}},
}};

struct RequestMeaning {
  std::string_view word;
  std::string_view meaning;
};

constexpr std::array<RequestMeaning, 13> kRequestErrors = {{
    {"cmd", "the server did not understand the request"},
    {"stmtnum", "the index was not opened on this connection"},
    {"op", "the server does not know the comparison"},
    {"klen", "the request gave no key"},
    {"kpnum", "the key has fewer parts than the request gave"},
    {"idxnum", "the table has no such index"},
    {"fld", "the table has no such column"},
    {"tblnum", "the table was not opened on this connection"},
    {"modop", "the server does not know the modification"},
    {"filterfld", "a filter names a column that was not opened"},
    {"filtertype", "the server does not know the filter"},
    {"notimpl", "the server has not implemented the request"},
    {"invalueslen", "the request gave an empty list of values"},
}};

}  // namespace

ServerError ExplainServerError(std::string_view text) {
  for (const Meaning& known : kServerErrors) {
    if (known.text == text) return known.error;
  }
  return {};
}

std::string_view ExplainRequestError(std::string_view word) {
  for (const RequestMeaning& known : kRequestErrors) {
    if (known.word == word) return known.meaning;
  }
  return {};
}

}  // namespace cavalry::drivers::handlersocket
