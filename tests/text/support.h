// What the text tests share.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ir/verifier.h"
#include "text/text.h"

namespace tilesight::text_tests {

inline std::string readFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

inline std::vector<std::filesystem::path> filesIn(const std::filesystem::path& folder, std::string_view extension) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// A parsed module with its context. A failed parse is a test failure, and `ok` is false.
struct Parsed {
  ir::Context context;
  ir::Module module;
  bool ok = false;

  explicit Parsed(std::string_view text) {
    auto result = text::parse(text, "test.mlir", context);
    if (!result) {
      ADD_FAILURE() << result.error().str() << "\n" << text;
      return;
    }
    module = std::move(*result);
    ok = true;
  }
  /// The first operation of this name, or null.
  ir::Operation* find(std::string_view name) const {
    ir::Operation* found = nullptr;
    if (ok)
      ir::walk(*module.top, [&](ir::Operation& op) {
        if (op.name == name) found = &op;
        return !found;
      });
    return found;
  }
};

/// The printed form of `text`.
inline std::string reprint(std::string_view text, text::PrintOptions options = {}) {
  Parsed parsed(text);
  return parsed.ok ? text::print(parsed.module, options) : std::string();
}

/// `body` in a function that gives it values to work with.
inline std::string inFunction(std::string_view body) {
  return "tt.func public @f(%p: !tt.ptr<f32>, %ps: tensor<8x!tt.ptr<f32>>, %i: i32, %x: f32, %c: i1, "
         "%v: tensor<8xi32>, %w: tensor<8xf32>, %m: tensor<8xi1>) {\n" +
         std::string(body) + "\n  tt.return\n}\n";
}

}  // namespace tilesight::text_tests
