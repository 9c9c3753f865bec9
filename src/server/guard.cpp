#include "server/guard.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

namespace tilesight::server {
namespace {

std::string randomHex(int words) {
  std::random_device random;  // getrandom or RDRAND
  std::string text;
  for (int i = 0; i < words; ++i) text += fmt::format("{:08x}", random());
  return text;
}

/// Takes as long for a wrong guess as for a right one.
bool sameSecret(const std::string& a, const std::string& b) {
  unsigned char differs = a.size() != b.size();
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return !differs;
}

std::string header(const Request& request, const char* name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string() : found->second;
}

std::string cookieNamed(const std::string& name, const std::string& cookies) {
  size_t at = 0;
  while (at < cookies.size()) {
    const size_t end = std::min(cookies.find(';', at), cookies.size());
    const size_t start = std::min(cookies.find_first_not_of(' ', at), end);
    const std::string entry = cookies.substr(start, end - start);
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
    at = end + 1;
  }
  return {};
}

Answer refused(int status, const std::string& why) { return {status, "text/plain; charset=utf-8", why + "\n"}; }

}  // namespace

bool isLoopbackHost(const std::string& host) {
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string rest = host.substr(std::char_traits<char>::length(name));
    if (rest.empty()) return true;
    return rest[0] == ':' && rest.size() > 1 && rest.size() <= 6 && rest.find_first_not_of("0123456789", 1) == rest.npos;
  }
  return false;
}

Guard::Guard() : token_(randomHex(4)), cookie_("tilesight_" + randomHex(1)) {}

bool Guard::knowsToken(const Request& request) const {
  return sameSecret(cookieNamed(cookie_, header(request, "cookie")), token_);
}

std::optional<Answer> Guard::stop(const Request& request) const {
  const std::string host = header(request, "host");
  if (!isLoopbackHost(host)) return refused(403, "This server answers at 127.0.0.1 and localhost only.");
  if (const std::string origin = header(request, "origin"); !origin.empty() && origin != "http://" + host)
    return refused(403, "This server answers its own pages only.");
  const bool opensPage = request.path == "/";
  if (const std::string site = header(request, "sec-fetch-site");
      site == "cross-site" || site == "same-site") {
    // A link on another page may open the visualizer, and nothing more.
    if (!opensPage || header(request, "sec-fetch-mode") != "navigate")
      return refused(403, "This server answers its own pages only.");
  }
  const bool sends = request.method == "PUT" && request.path.starts_with("/api/");
  if (request.method != "GET" && request.method != "HEAD" && !sends) return refused(405, "Only GET, and PUT of data.");
  const auto token = request.query.find("token");
  if (opensPage && token != request.query.end() && sameSecret(token->second, token_)) {
    Answer answer{303, "text/plain; charset=utf-8", ""};
    answer.headers = {{"Location", "/"},
                      {"Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax", cookie_, token_)}};
    return answer;
  }
  if (knowsToken(request)) return std::nullopt;
  return refused(403, "This page needs the address that `tilesight view` printed, with its token.");
}

}  // namespace tilesight::server
