// Requests that must be refused, and those that must not.
#include "server/guard.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "server/api.h"
#include "server/http.h"

namespace tilesight::server {
namespace {

Request get(std::string path, std::map<std::string, std::string> headers = {}) {
  Request request{"GET", std::move(path), {}, {{"host", "127.0.0.1:8000"}, {"cookie", "other=1; ts=secret"}}};
  for (auto& [name, value] : headers) request.headers[name] = value;
  return request;
}

class GuardTest : public testing::Test {
 protected:
  int status(const Request& request) const {
    const auto stopped = guard.stop(request);
    return stopped ? stopped->status : 200;
  }
  Guard guard{"secret", "ts"};
};

TEST_F(GuardTest, TheCookieOpensEverything) {
  EXPECT_EQ(status(get("/")), 200);
  EXPECT_EQ(status(get("/api/launches")), 200);
}

TEST_F(GuardTest, WithoutTheTokenNothingIsSaid) {
  EXPECT_EQ(status(get("/", {{"cookie", ""}})), 403);
  EXPECT_EQ(status(get("/api/launches", {{"cookie", "ts=guess"}})), 403);
  EXPECT_EQ(status(get("/api/launches", {{"cookie", "ts=secret2"}})), 403);
  EXPECT_EQ(status(get("/api/launches", {{"cookie", "nots=secret"}})), 403);
}

TEST_F(GuardTest, TheTokenMovesFromTheAddressIntoACookie) {
  Request request = get("/", {{"cookie", ""}});
  request.query["token"] = "secret";
  const auto answer = guard.stop(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 303);
  ASSERT_EQ(answer->headers.size(), 2u);
  EXPECT_EQ(answer->headers[0].second, "/");
  EXPECT_EQ(answer->headers[1].second, "ts=secret; Path=/; HttpOnly; SameSite=Lax");
  request.query["token"] = "guess";
  EXPECT_EQ(status(request), 403);
  request.path = "/api/launches";  // the token in an address of data is no use
  request.query["token"] = "secret";
  EXPECT_EQ(status(request), 403);
}

TEST_F(GuardTest, ForeignHostsAreRefused) {
  for (const char* host : {"evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "localhost:80x", "localhost:", ""})
    EXPECT_EQ(status(get("/", {{"host", host}})), 403) << host;
  for (const char* host : {"127.0.0.1", "localhost:9000", "[::1]:1"}) EXPECT_EQ(status(get("/", {{"host", host}})), 200) << host;
}

TEST_F(GuardTest, PagesOfOtherOriginsAreRefused) {
  EXPECT_EQ(status(get("/api/launches", {{"origin", "http://evil.example"}})), 403);
  EXPECT_EQ(status(get("/api/launches", {{"origin", "null"}})), 403);
  EXPECT_EQ(status(get("/api/launches", {{"origin", "http://127.0.0.1:9999"}})), 403);
  EXPECT_EQ(status(get("/api/launches", {{"origin", "http://127.0.0.1:8000"}})), 200);
  EXPECT_EQ(status(get("/api/launches", {{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "no-cors"}})), 403);
  EXPECT_EQ(status(get("/", {{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}})), 200);
}

TEST_F(GuardTest, OnlyReading) {
  Request request = get("/api/launches");
  request.method = "POST";
  EXPECT_EQ(status(request), 405);
  request.method = "OPTIONS";
  EXPECT_EQ(status(request), 405);
}

TEST_F(GuardTest, DataIsTakenFromOwnPagesOnly) {
  Request request = get("/api/launch/0/tensor/0/expected");
  request.method = "PUT";
  EXPECT_EQ(status(request), 200);
  for (const auto& [name, value] : std::map<std::string, std::string>{{"cookie", "ts=guess"}, {"origin", "http://evil.example"}, {"host", "evil.example"}, {"sec-fetch-site", "cross-site"}}) {
    Request foreign = request;
    foreign.headers[name] = value;
    EXPECT_EQ(status(foreign), 403) << name;
  }
  request.path = "/";
  EXPECT_EQ(status(request), 405);
}

/// What the server answers to these bytes, to its end.
std::string ask(int port, const std::string& text) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    (void)!send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    char part[4096];
    for (ssize_t n; (n = recv(fd, part, sizeof part, 0)) > 0;) answer.append(part, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

class SocketTest : public testing::Test {
 protected:
  void SetUp() override {
    auto http = HttpServer::listen(0, [this](const Request& request) {
      if (auto refused = guard.stop(request)) return *refused;
      return answer(workspace, request);
    });
    ASSERT_TRUE(http);
    server = std::move(*http);
  }
  std::string get(const std::string& target, const std::string& more = "") {
    return ask(server->port(), "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nCookie: ts=secret\r\nConnection: close\r\n" + more + "\r\n");
  }
  Guard guard{"secret", "ts"};
  Workspace workspace{{}};
  std::unique_ptr<HttpServer> server;
};

TEST_F(SocketTest, AnswersAndForbidsEverythingElse) {
  const std::string answer = get("/api/launches");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200"));
  EXPECT_NE(answer.find("{\"launches\":[],\"version\":0}"), answer.npos);
  EXPECT_NE(answer.find("Content-Security-Policy: default-src 'none'"), answer.npos);
  EXPECT_NE(answer.find("X-Content-Type-Options: nosniff"), answer.npos);
  EXPECT_EQ(answer.find("Access-Control-Allow-Origin"), answer.npos);
}

TEST_F(SocketTest, PathsLeadNowhereElse) {
  for (const char* path : {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/app.js/../../etc/passwd", "/api/launch/../../etc/passwd",
                           "/api/launch/0", "/api/launch/-1", "/api/launch/99999999999999999999", "/api/launch/0/tensor/0"}) {
    const std::string answer = get(path);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 404")) << path << "\n" << answer;
    EXPECT_EQ(answer.find("root:"), answer.npos) << path;
  }
}

TEST_F(SocketTest, OversizedRequestsAreRefused) {
  EXPECT_TRUE(get("/" + std::string(20000, 'a')).starts_with("HTTP/1.1 414"));
  EXPECT_TRUE(get("/", "X: " + std::string(20000, 'a') + "\r\n").find("HTTP/1.1 200") == std::string::npos);
  const std::string body = ask(server->port(), "POST / HTTP/1.1\r\nHost: localhost\r\nCookie: ts=secret\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n");
  EXPECT_TRUE(body.starts_with("HTTP/1.1 4")) << body;
}

TEST(Socket, ABodyIsReadForWhoAsksForIt) {
  std::string seen;
  auto http = HttpServer::listen(0, [&](const Request& request) {
    if (request.path == "/refused") return Answer{403};
    auto body = request.body ? request.body() : Result<std::string>(failure("none"));
    if (body) seen = *body;
    return Answer{body ? 200 : 400};
  });
  ASSERT_TRUE(http);
  const auto put = [&](const std::string& path, const std::string& bytes) {
    return ask((*http)->port(), "PUT " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes).substr(0, 12);
  };
  std::string large(200000, 'x');
  large[7] = '\0';
  EXPECT_EQ(put("/taken", large), "HTTP/1.1 200");
  EXPECT_EQ(seen, large);
  EXPECT_EQ(put("/refused", "abc"), "HTTP/1.1 403");
}

TEST(Socket, OneThatIsEndedAsItStartsEnds) {
  for (int i = 0; i < 200; ++i) {
    auto http = HttpServer::listen(0, [](const Request&) { return Answer{200}; });
    ASSERT_TRUE(http);
    (*http)->stop();
    (*http)->wait();
    EXPECT_EQ(ask((*http)->port(), "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), "");
  }
}

TEST_F(SocketTest, BytesThatAreNoRequestDoNoHarm) {
  EXPECT_EQ(ask(server->port(), "nonsense\r\n\r\n").find("HTTP/1.1 200"), std::string::npos);
  EXPECT_TRUE(get("/api/launches").starts_with("HTTP/1.1 200"));
}

}  // namespace
}  // namespace tilesight::server
