// Who may ask: whoever has the token, from a page of this server only.
#pragma once

#include <optional>
#include <string>

#include "server/http.h"

namespace tilesight::server {

/// Any page in the user's browser can send requests to 127.0.0.1, and every user of the machine can connect. So a
/// request needs the secret, which the address that `tilesight view` prints carries once and a cookie afterwards; its
/// Host must be a name of this machine (a foreign name that resolves to 127.0.0.1 is refused), and a request
/// that another site's page makes is refused whatever it knows.
class Guard {
 public:
  /// With a fresh random token.
  Guard();
  /// For tests.
  Guard(std::string token, std::string cookie) : token_(std::move(token)), cookie_(std::move(cookie)) {}

  const std::string& token() const { return token_; }
  /// The answer that refuses the request, or the one that moves the token from the address into a cookie; none: the
  /// request may be answered.
  std::optional<Answer> stop(const Request& request) const;

 private:
  bool knowsToken(const Request& request) const;

  std::string token_, cookie_;
};

/// "127.0.0.1", "localhost" or "[::1]", with or without a port (any: it may be forwarded).
bool isLoopbackHost(const std::string& host);

}  // namespace tilesight::server
