#include "samples.h"

#include <cstring>

namespace tilesight::test {

using findings::Finding;
using findings::LaunchReport;
using launch::Argument;

Finding attentionFinding() {
  Finding finding;
  finding.kind = "out-of-bounds";
  finding.message = "load from K reads up to 3,072 bytes past its end (2,048,000 bytes)";
  finding.client = "sanitizer";
  finding.kernel = "attn_fwd";
  finding.grid = {1, 16, 2};
  finding.config = R"({"BLOCK_N":64,"num_warps":4})";
  finding.location = {"/home/user/attn.py", 57, 13, "attn_fwd"};
  finding.sourceLine = "        k = tl.load(k_ptrs)";
  finding.accessKind = "read";
  finding.accessBytes = 2;
  finding.operation = "load";
  finding.program = {0, 15, 0};
  finding.element = {40, 0};
  finding.iterations = {{"start_n", 960, 15}};
  finding.operand = findings::Operand{.argument = "K",
                                      .index = {1, 7, 1000, 0},
                                      .byteOffset = 2048000,
                                      .bytesPast = 2,
                                      .shape = {2, 8, 1000, 64},
                                      .strides = {512000, 64000, 64, 1},
                                      .dtype = "float16",
                                      .viewBytes = 2048000,
                                      .allocationBytes = 2048000};
  finding.because = {{"offs_n", "start_n + arange(0, 64)", "960..1023"},
                     {"", "no mask on offs_n", ""},
                     {"N_CTX", "", "1000"}};
  finding.maxBytesPast = 3072;
  finding.countElements = 12288;
  finding.countPrograms = 8;
  return finding;
}

LaunchReport attentionReport() {
  LaunchReport report = cleanReport("attn_fwd");
  report.grid = {1, 16, 2};
  report.findings = {attentionFinding()};
  return report;
}

findings::Session sessionIn(const std::string& root) {
  findings::SessionOptions options;
  options.workingDirectory = root;
  options.repositoryRoot = root;
  return findings::Session(options);
}

LaunchReport cleanReport(const std::string& kernel) {
  LaunchReport report;
  report.kernel = kernel;
  report.seconds = 0.1;
  report.checked = {"bounds", "alignment", "asserts"};
  report.notChecked = {"races", "uninitialised"};
  return report;
}

findings::Unknown histogramUnknown() {
  return {"hist", "tt.histogram cannot be executed yet", {"/home/user/hist.py", 12, 9, "hist"},
          "    h = tl.histogram(x, 16)"};
}

launch::Storage makeStorage(uint64_t bytes, uint64_t recordedBase, const std::string& name) {
  launch::Storage storage;
  auto memory = std::make_shared<std::vector<uint8_t>>(bytes);
  storage.data = memory->data();
  storage.bytes = bytes;
  storage.recordedBase = recordedBase;
  storage.name = name;
  storage.owner = memory;
  return storage;
}

launch::Launch sampleLaunch(uint64_t count) {
  launch::Launch launch;
  launch.index = 3;
  launch.kernel = "scale";
  launch.irText = "module {\n  tt.func public @scale() { tt.return }\n}\n";
  launch.irName = "scale.ttir";
  launch.grid = {4, 2, 1};
  launch.config = R"({"BLOCK":256,"num_warps":4})";
  launch.tritonVersion = "3.9.0";
  launch.target = "cuda:80";
  launch.seed = 0xfedcba9876543210;
  launch.numSms = 8;
  launch.test = "test_scale.py::test_tail[7]";
  launch.sources = {{"/home/user/scale.py", "@triton.jit\ndef scale(x): ...\n"},
                    {"/home/user/helper.py", "# naïve\n"}};
  launch.storages = {makeStorage(4 * count, 0x7f0000001000, "x"),
                     makeStorage(4 * count, 0x7f0000100000, "out")};
  launch.storages[1].allocationKnown = false;
  launch.storages[1].readOnly = true;
  for (uint64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(launch.storages[0].data + 4 * i, &value, 4);
  }

  const auto elements = static_cast<int64_t>(count);
  Argument x{.name = "x", .kind = Argument::Kind::Tensor};
  x.view = {.element = ir::ElementKind::F32, .dtype = "float32", .shape = {elements / 2},
            .strides = {-2}, .offset = 4 * (elements - 1), .storage = 0};
  x.hint = "tt.divisibility=16";
  Argument out{.name = "out", .kind = Argument::Kind::Descriptor};
  out.view = {.element = ir::ElementKind::F32, .dtype = "float32", .shape = {1, elements},
              .strides = {0, 1}, .storage = 1, .uninitialized = true, .readOnly = true};
  out.blockShape = {1, 64};
  out.paddingNan = true;
  Argument factor{.name = "factor", .element = ir::ElementKind::F64, .bits = 0x7ff8000000000001};
  Argument n{.name = "n", .element = ir::ElementKind::I32, .bits = static_cast<uint64_t>(-5)};
  Argument block{.name = "BLOCK", .kind = Argument::Kind::Specialized, .text = "256"};
  Argument bias{.name = "bias", .kind = Argument::Kind::Specialized, .text = "None"};
  launch.arguments = {x, out, factor, n, block, bias};
  return launch;
}

}  // namespace tilesight::test
