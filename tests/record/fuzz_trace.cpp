// libFuzzer target: any bytes as a segment of a trace, and as a trace with that segment. Build with clang and
// -DTILESIGHT_FUZZ=ON.
//
// Input that begins as an Arrow file does is taken as it is. Else its first byte chooses a table, and few rows or many
// (whose buffers are compressed), and the rest are changes of a whole segment of it, three bytes each: where, and what is
// to be changed there. So most inputs get past the footer. The other tables of the trace are whole.
#include <stdlib.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "arrow/file_writer.h"
#include "record/perfetto.h"
#include "record/reader.h"

using namespace tilesight;

namespace {

using Bytes = std::vector<uint8_t>;

/// A folder for the trace, as long as the process lives.
class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "fuzz_trace.XXXXXX").string()) {
    if (!mkdtemp(path_.data())) abort();
    for (const record::Table table : record::kAllTables) std::filesystem::create_directory(path_ + "/" + record::schemaOf(table).table);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::string& folder() {
  static const Folder folder;
  return folder.path();
}

std::string pathOf(record::Table table) { return folder() + "/" + record::schemaOf(table).table + "/0.arrow"; }

Bytes segment(record::Table table, int64_t count) {
  const arrow::Schema& schema = record::schemaOf(table);
  arrow::Packer packer;
  arrow::Rows rows(schema);
  for (int64_t row = 0; row < count; ++row)
    for (const arrow::Field& field : schema.fields) switch (field.type) {
        case arrow::Type::Float64: rows.add(0.5 * static_cast<double>(row)); break;
        case arrow::Type::Text:
        case arrow::Type::Name: rows.add(std::string(row == 1 ? "" : "name " + std::to_string(row))); break;
        case arrow::Type::Int32List:
        case arrow::Type::Int64List: rows.add(std::vector<int64_t>(static_cast<size_t>(row % 3), row)); break;
        case arrow::Type::TextList: rows.add(std::vector<std::string>(static_cast<size_t>(row % 3), "text")); break;
        default: rows.add(row);
      }
  const std::string path = pathOf(table);
  auto file = arrow::FileWriter::open(path, schema);
  if (!file || !file->append(rows.encode(packer)) || !file->finish(rows.names(), packer)) abort();
  std::ifstream stream(path, std::ios::binary);
  Bytes bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::filesystem::remove(path);
  return bytes;
}

const Bytes& whole(record::Table table, bool many = false) {
  static std::array<std::array<Bytes, 2>, record::kTables> all;
  Bytes& bytes = all[static_cast<size_t>(table)][many];
  if (bytes.empty()) bytes = segment(table, many ? 50 : 3);
  return bytes;
}

void write(record::Table table, const Bytes& bytes) {
  std::ofstream(pathOf(table), std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// The folder, once: a whole trace.
void writeAll() {
  for (const record::Table table : record::kAllTables) write(table, whole(table));
}

/// What a batch says must be there.
void check(const arrow::Schema& schema, const arrow::Batch& batch) {
  const auto rows = static_cast<size_t>(batch.rows);
  if (batch.columns.size() != schema.fields.size()) __builtin_trap();
  for (size_t c = 0; c < batch.columns.size(); ++c) {
    const arrow::Values& values = batch.columns[c];
    bool good = true;
    switch (schema.fields[c].type) {
      case arrow::Type::Float64: good = values.floats.size() == rows; break;
      case arrow::Type::Text:
      case arrow::Type::Name: good = values.texts.size() == rows; break;
      case arrow::Type::Int32List:
      case arrow::Type::Int64List: good = values.offsets.size() == rows + 1 && static_cast<size_t>(values.offsets.back()) == values.ints.size(); break;
      case arrow::Type::TextList: good = values.offsets.size() == rows + 1 && static_cast<size_t>(values.offsets.back()) == values.texts.size(); break;
      default: good = values.ints.size() == rows;
    }
    if (!good) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (!size) return 0;
  static const bool once = (writeAll(), true);
  (void)once;
  const auto table = static_cast<record::Table>(data[0] % record::kTables);
  Bytes bytes;
  if (data[0] == 'A') {
    bytes.assign(data, data + size);
  } else {
    bytes = whole(table, data[0] / record::kTables % 2 == 1);
    for (size_t i = 1; i + 3 <= size; i += 3)
      bytes[(static_cast<size_t>(data[i]) | static_cast<size_t>(data[i + 1]) << 8) % bytes.size()] ^= data[i + 2];
  }
  const auto file = arrow::FileReader::parse(bytes, "fuzz.arrow");
  if (!file) return 0;
  bool good = true;
  for (size_t i = 0; i < file->batches(); ++i) {
    const auto batch = file->batch(i);
    if (batch) check(file->schema(), *batch);
    good = good && batch;
  }
  if (!good) return 0;
  write(table, bytes);
  const auto trace = record::Trace::open(folder());
  if (!trace) __builtin_trap();
  (void)trace->each(table, [&](const arrow::Batch& batch) -> Status {
    check(record::schemaOf(table), batch);
    return {};
  });
  (void)record::writePerfetto(*trace, folder() + "/perfetto.json", 100);
  write(table, whole(table));
  return 0;
}
