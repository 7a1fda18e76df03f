// Messages for tests, from protobuf's text format.
#pragma once

#include <string>

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "cavalry/v1/control.pb.h"

namespace cavalry::agent {

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// An assignment of the whole load to one agent: two targets, a table "stock" of 100 filled rows and
// an empty one "orders". Operations and script are to be added.
inline v1::Assignment BaseAssignment() {
  return Parse<v1::Assignment>(R"pb(
    workload {
      seed: 42
      targets {
        name: "sql"
        tables_of: "sql"
        mysql { host: "127.0.0.1" port: 3306 database: "test" }
      }
      targets {
        name: "hs"
        tables_of: "sql"
        handlersocket { host: "127.0.0.1" port: 9998 write_port: 9999 database: "test" }
      }
      tables {
        name: "stock"
        rows: 100
        primary_key: "id"
        columns { name: "id" type: "bigint" }
        columns {
          name: "qty"
          type: "bigint"
          value { random_int { range { first: 1 last: 9 } } }
        }
        columns {
          name: "note"
          type: "varchar(40)"
          value { random_text { length { first: 10 last: 40 } } }
        }
        columns {
          name: "name"
          type: "varchar(25)"
          value { pattern: "Item#{id:09}" }
        }
      }
      tables {
        name: "orders"
        primary_key: "id"
        columns { name: "id" type: "bigint" }
        columns {
          name: "text"
          type: "varchar(40)"
          value { pattern: "order {id}" }
        }
        columns {
          name: "state"
          type: "int"
          value { constant: "0" }
        }
      }
      load {
        sessions: 4
        warmup: 0
        stop_after { duration: 1000000000 }
      }
    }
    target: "sql"
    agent_count: 1
    sessions: 4
    numbers { stride: 1 }
    next_keys { table: "stock" key: 101 }
    next_keys { table: "orders" key: 1 }
    next_version: 1
    audit: true
    connect_rate: 100
  )pb");
}

// Adds operations and script in text format to the assignment's workload.
inline v1::Assignment With(v1::Assignment assignment, const std::string& workload) {
  assignment.mutable_workload()->MergeFrom(Parse<v1::Workload>(workload));
  return assignment;
}

}  // namespace cavalry::agent
