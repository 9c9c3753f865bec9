// The one file that includes cpp-httplib.
#include "server/http.h"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace tilesight::server {
namespace {

// The page is one script and one style sheet of the same origin; nothing else is loaded, sent or framed.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Request requestOf(const httplib::Request& from) {
  Request request{from.method, from.path, {}, {}};
  for (const auto& [name, value] : from.params) request.query.emplace(name, value);
  for (const auto& [name, value] : from.headers) request.headers.emplace(lower(name), value);
  return request;
}

void harden(httplib::Response& response) {
  response.set_header("Content-Security-Policy", kPolicy);
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("X-Frame-Options", "DENY");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  response.set_header("Cross-Origin-Opener-Policy", "same-origin");
  if (!response.has_header("Cache-Control")) response.set_header("Cache-Control", "no-store");
}

class Server final : public HttpServer {
 public:
  explicit Server(Handler handler) : handler_(std::move(handler)) {
    server_.set_payload_max_length(kMaxBody);
    server_.set_read_timeout(5);
    server_.set_write_timeout(60);
    server_.set_keep_alive_timeout(1);  // idle connections of a browser hold up the end for as long
    server_.set_tcp_nodelay(true);
    // All paths are answered here, so that no rule of the library's own, such as files, applies. A body can be read from
    // a route only.
    server_.set_pre_routing_handler([this](const httplib::Request& from, httplib::Response& to) {
      if (from.method == "PUT") return httplib::Server::HandlerResponse::Unhandled;
      answer(requestOf(from), to);
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Put(".*", [this](const httplib::Request& from, httplib::Response& to, const httplib::ContentReader& reader) {
      Request request = requestOf(from);
      request.body = [&reader]() -> Result<std::string> {
        std::string bytes;
        const bool whole = reader([&](const char* data, size_t size) {
          if (size > kMaxBody - bytes.size()) return false;
          bytes.append(data, size);
          return true;
        });
        if (!whole) return failure("the file did not come whole, or is larger than 1 GiB");
        return bytes;
      };
      answer(request, to);
    });
    server_.set_error_handler([](const httplib::Request&, httplib::Response& to) { harden(to); });
  }
  ~Server() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  bool bind(int port) {
    port_ = port ? (server_.bind_to_port("127.0.0.1", port) ? port : -1) : server_.bind_to_any_port("127.0.0.1");
    if (port_ <= 0) return false;
    thread_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    // The library's stop() does nothing to a server that is not running yet, which would then never end.
    while (!server_.is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }

  int port() const override { return port_; }
  void wait() override {
    if (thread_.joinable()) thread_.join();
  }
  void stop() override { server_.stop(); }

 private:
  void answer(const Request& request, httplib::Response& to) {
    Answer answer;
    try {
      answer = handler_(request);
    } catch (const std::exception& error) {
      answer = {500, "text/plain; charset=utf-8", fmt::format("internal error: {}\n", error.what())};
    }
    to.status = answer.status;
    for (const auto& [name, value] : answer.headers) to.set_header(name.c_str(), value);
    to.set_content(std::move(answer.body), answer.type.c_str());
    harden(to);
  }

  Handler handler_;
  httplib::Server server_;
  std::thread thread_;
  std::atomic<bool> ended_ = false;
  int port_ = -1;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::listen(int port, Handler handler) {
  auto server = std::make_unique<Server>(std::move(handler));
  if (!server->bind(port))
    return port ? failure(fmt::format("port {} of 127.0.0.1 cannot be had", port), "leave --port out for any free one")
                : failure("no port of 127.0.0.1 can be had");
  return Result<std::unique_ptr<HttpServer>>(std::move(server));
}

}  // namespace tilesight::server
