// Where a MySQL target is and as whom to log in, taken from its settings. Immutable after Resolve;
// must outlive the connections made from it. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/settings.h"
#include "core/base/status.h"

namespace cavalry::drivers::mysql {

enum class Transport { kTcp, kUnix };

// Encryption, which is enforced where it is on.
struct TlsOptions {
  bool enabled = false;
  std::string ca;      // PEM file of the authorities to trust; empty: the system's
  std::string cert;    // PEM file of the client's certificate; empty: none
  std::string key;     // and of its key
  bool verify = true;  // the server's certificate and name
};

struct ServerAddress {
  Transport transport = Transport::kTcp;
  std::string host;
  std::uint16_t port = 3306;
  std::string socket;
  std::string user;
  std::string password;
  std::string database;
  std::string label;  // "127.0.0.1:3306" or the socket's path, for messages
  TlsOptions tls;
  bool compress = false;
  std::string plugin_dir;  // of the library's authentication plugins; empty: its own
  // Addresses of `host`, in the order to try them. Filled by Resolve: numeric, since the library
  // would resolve names with a blocking call; but the name itself where a certificate must have it.
  std::vector<std::string> candidates;
};

// Reads and checks the settings, without resolving names. Errors say what to change.
StatusOr<ServerAddress> ReadServerAddress(const Settings& settings);

// Fills `candidates`. A Unix socket needs none and gets one empty text. Blocks.
Status Resolve(ServerAddress* address);

}  // namespace cavalry::drivers::mysql
