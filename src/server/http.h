// A small HTTP server on the loopback interface.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"

namespace tilesight::server {

struct Request {
  std::string method;                        // "GET"
  std::string path;                          // decoded, without the query
  std::map<std::string, std::string> query;  // the first of each name
  std::map<std::string, std::string> headers;  // names in small letters; the first of each
  /// PUT: reads the body. It is left unread until then, so that who may not send one is refused first. Errors: more than
  /// kMaxBody, or the connection ends.
  std::function<Result<std::string>()> body = {};
};

struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

using Handler = std::function<Answer(const Request&)>;

/// Longer addresses are refused (414) before the handler sees them; bodies are read only for a handler that asks for them.
inline constexpr size_t kMaxTarget = 8192, kMaxBody = 1 << 30;

/// Serves on 127.0.0.1 only, from threads of its own; every answer forbids the browser to load or frame anything else.
class HttpServer {
 public:
  /// `port` 0: any free one. Errors: the port is taken.
  static Result<std::unique_ptr<HttpServer>> listen(int port, Handler handler);
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
  /// Returns after stop(), which may be called from a signal handler's thread.
  virtual void wait() = 0;
  virtual void stop() = 0;
};

}  // namespace tilesight::server
