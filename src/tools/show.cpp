// tilesight show: values of a launch in the terminal.
#include "tools/show.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "exec/kernel.h"
#include "exec/source_line.h"
#include "findings/format.h"
#include "launch/bundle.h"
#include "tools/inputs.h"
#include "tools/options.h"
#include "tools/output.h"
#include "trace/expect.h"
#include "trace/nonfinite.h"
#include "trace/picture.h"
#include "trace/story.h"
#include "trace/withheld.h"

namespace tilesight::tools {
namespace {

using findings::counted;
using findings::printable;
using findings::Style;
using trace::Values;

bool wholeNumber(std::string_view text, int64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

Result<std::array<int64_t, 3>> programOf(const std::string& text) {
  std::array<int64_t, 3> program{};
  const std::vector<std::string> parts = findings::commaSeparated(text);
  bool good = !parts.empty() && parts.size() <= 3;
  for (size_t i = 0; good && i < parts.size(); ++i) good = wholeNumber(parts[i], &program[i]);
  if (!good) return failure(fmt::format("--program: '{}' must be X, X,Y or X,Y,Z", text));
  return program;
}

Status addTrips(const std::vector<std::string>& texts, bool isValue, std::vector<trace::Query::Trip>& trips) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    trace::Query::Trip trip{text.substr(0, equals), 0, isValue};
    if (equals == text.npos || equals == 0 || !wholeNumber(std::string_view(text).substr(equals + 1), &trip.number))
      return failure(fmt::format("--{}: '{}' must be LOOP=N, such as start_n=15", isValue ? "where" : "trip", text));
    trips.push_back(std::move(trip));
  }
  return {};
}

std::string shortFile(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string programText(const std::array<int64_t, 3>& program) { return fmt::format("({})", fmt::join(program, ", ")); }

// "start_n = 960 (turn 15)"
std::string turnsText(const std::vector<trace::Iteration>& iterations) {
  std::string text;
  for (const trace::Iteration& i : iterations)
    text += i.name.empty() ? fmt::format(", turn {} of while", i.trip) : fmt::format(", {} = {} (turn {})", i.name, i.value, i.trip);
  return text;
}

}  // namespace

Shown::Shown(const ShowOptions& options, bool colour) : options_(options), paint_(colour) {}

std::string Shown::sourceText(const std::string& file, uint32_t line) const {
  return printable(findings::trimmed(exec::sourceLine(values_->launch(), file, line)));
}

std::string Shown::lineHead(const std::string& file, uint32_t line) const {
  const std::string source = sourceText(file, line);
  return paint_(Style::Place, fmt::format("{}:{}", printable(shortFile(file)), line)) + (source.empty() ? "" : "   " + source) + "\n";
}

Status Shown::open() {
  auto bundles = bundlesAt(options_.file);
  if (!bundles) return failure(bundles.error());
  struct Found {
    std::string path;
    size_t index;
    uint32_t number;
    std::string kernel;
  };
  std::vector<Found> all;
  for (const std::string& path : *bundles) {
    auto reader = launch::BundleReader::open(path);
    if (!reader) return failure(reader.error());
    for (size_t i = 0; i < reader->launches(); ++i) {
      auto kernel = reader->kernelName(i);
      if (!kernel) return failure(kernel.error());
      auto number = reader->launchNumber(i);
      if (!number) return failure(number.error());
      all.push_back({path, i, *number, *kernel});
    }
  }
  if (all.empty()) return failure(Diagnostic{options_.file, 0, 0, "holds no launch", {}});
  const Found* chosen = nullptr;
  for (const Found& found : all) {
    if (options_.launch && found.number != *options_.launch) continue;
    if (!options_.kernelName.empty() && found.kernel != options_.kernelName) continue;
    chosen = &found;
    break;
  }
  if (!chosen) {
    std::vector<std::string> list;
    for (const Found& found : all) {
      if (list.size() == 12) {
        list.push_back("...");
        break;
      }
      list.push_back(fmt::format("{} ({})", found.number, found.kernel));
    }
    return failure(Diagnostic{options_.file, 0, 0, options_.launch ? fmt::format("has no launch {}{}", *options_.launch, options_.kernelName.empty() ? "" : " of " + options_.kernelName)
                                                                   : "has no launch of " + options_.kernelName,
                              fmt::format("its launches are {}", fmt::join(list, ", "))});
  }
  auto reader = launch::BundleReader::open(chosen->path);
  if (!reader) return failure(reader.error());
  auto read = reader->launch(chosen->index);
  if (!read) return failure(read.error());
  auto launch = std::make_shared<launch::Launch>(std::move(*read));
  const std::vector<std::string> withheld = trace::withheldTensors(*launch);
  auto kernel = exec::compile(launch->irText, launch->irName);
  if (!kernel) return failure(kernel.error());
  auto values = Values::of(*kernel, launch);
  if (!values) return failure(values.error());
  values_ = std::move(*values);
  head_ = fmt::format("{}: launch {}, {}, grid ({})\n", printable(chosen->path), chosen->number, printable(launch->kernel), fmt::join(launch->grid, ", "));
  if (all.size() > 1 && !options_.launch)
    head_ += paint_(Style::Faint, fmt::format("the first of {}: --launch N shows another\n", counted(static_cast<int64_t>(all.size()), "launch")));
  if (!withheld.empty())
    head_ += paint_(Style::Warning, fmt::format("the data of {} was not saved: what was computed from it is not shown", fmt::join(withheld, ", "))) + "\n";
  return {};
}

std::string Shown::list() const {
  // The kernel's own file first, then the files of functions that it calls.
  std::vector<std::string> files;
  for (const trace::Site& site : values_->sites())
    for (const trace::Named& value : site.values)
      if (!value.name.empty() && std::find(files.begin(), files.end(), value.file) == files.end()) files.push_back(value.file);
  std::string text;
  for (const std::string& file : files) {
    if (file.find("triton/language/") != file.npos) continue;
    std::map<uint32_t, std::vector<std::pair<std::string, std::string>>> lines;
    for (const trace::Site& site : values_->sites())
      for (const trace::Named& value : site.values) {
        if (value.name.empty() || value.file != file) continue;
        auto& names = lines[value.line];
        const auto known = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == value.name; });
        if (known == names.end()) names.emplace_back(value.name, value.type);
        else known->second = value.type;
      }
    text += "\n" + paint_(Style::Place, printable(file)) + "\n";
    for (const auto& [line, names] : lines) {
      text += fmt::format("  {:>5}  {}\n", line, sourceText(file, line));
      for (const auto& [name, type] : names) text += paint_(Style::Faint, printable(fmt::format("           {}  {}", name, trace::typeText(type)))) + "\n";
    }
  }
  if (text.empty()) text = "\nthe kernel gives no variable a value\n";
  return text;
}

Result<std::string> Shown::one(const trace::Query& query) const {
  auto value = values_->at(query);
  if (!value) return failure(value.error());
  TS_CHECK(trace::toldUntil(*values_, query.program, value->step));
  const trace::Site& site = values_->sites()[value->site];
  const trace::Named& named = (value->operand ? site.operands : site.values)[value->number];
  std::string name = named.name.empty() ? named.ssa : named.name;
  if (name.empty()) name = value->operand ? fmt::format("operand {}", value->number) : "result";
  std::string text = "\n" + lineHead(query.op ? site.file : named.file, query.op ? site.line : named.line);
  if (query.op) text += fmt::format("operation {}, {}\n", site.op, printable(site.operation));
  text += fmt::format("{}: {} in program {}{}\n", paint_(Style::Note, printable(name)), printable(trace::typeText(named.type)), programText(query.program), turnsText(value->iterations));
  if (value->occurrences > 1)
    text += paint_(Style::Faint, fmt::format("  {} {} times that the program came here{}", value->occurrence + 1 == value->occurrences ? "the last of" : fmt::format("number {} (from 0) of", value->occurrence),
                                             value->occurrences, query.trips.empty() && !query.occurrence && !value->iterations.empty()
                                                 ? fmt::format(": --trip {}=N shows another", value->iterations.back().name.empty() ? "while" : value->iterations.back().name) : "")) + "\n";
  return text + trace::picture(*value, values_->launch(), paint_);
}

Result<std::string> Shown::firstNan() const {
  auto report = trace::firstNonFinite(*values_);
  if (!report) return failure(report.error());
  wrong_ = report->first.has_value();
  return "\n" + trace::nonFiniteText(*values_, *report, paint_);
}

Result<std::string> Shown::expected() const {
  const size_t equals = options_.expect.find('=');
  if (equals == std::string::npos || equals == 0) return failure(fmt::format("--expect: '{}' must be TENSOR=FILE.npy", options_.expect));
  auto argument = trace::tensorNamed(values_->launch(), options_.expect.substr(0, equals));
  if (!argument) return failure(argument.error());
  auto array = trace::readNpy(options_.expect.substr(equals + 1),
                              [&](const std::vector<int64_t>& shape) { return trace::sameShape(values_->launch().arguments[*argument], shape); });
  if (!array) return failure(array.error());
  trace::Tolerance tolerance = trace::toleranceOf(values_->launch().arguments[*argument].view.element);
  if (options_.rtol || options_.atol) tolerance = {options_.rtol.value_or(0), options_.atol.value_or(0)};
  auto mismatch = trace::compare(*values_, *argument, *array, tolerance);
  if (!mismatch) return failure(mismatch.error());
  wrong_ = mismatch->wrong != 0;
  return "\n" + trace::mismatchText(*values_, *mismatch, paint_);
}

Result<std::string> Shown::from() const {
  const size_t open = options_.from.find('[');
  std::vector<int64_t> index;
  bool good = open != 0;
  if (open != std::string::npos) {
    good = good && options_.from.back() == ']';
    if (good)
      for (const std::string& part : findings::commaSeparated(std::string_view(options_.from).substr(open + 1, options_.from.size() - open - 2)))
        good = wholeNumber(part, &index.emplace_back()) && good;
  }
  if (!good) return failure(fmt::format("--from: '{}' must be TENSOR[I,J], with as many numbers as it has axes", options_.from));
  auto argument = trace::tensorNamed(values_->launch(), options_.from.substr(0, open));
  if (!argument) return failure(argument.error());
  auto written = trace::sliceOfElement(*values_, *argument, index);
  if (!written) return failure(written.error());
  return "\n" + trace::writtenText(*values_, options_.from, *written, paint_);
}

Result<std::string> Shown::asked() const {
  if (options_.firstNan || !options_.expect.empty() || !options_.from.empty()) TS_CHECK(trace::toldAll(*values_));
  if (options_.firstNan) return firstNan();
  if (!options_.expect.empty()) return expected();
  if (!options_.from.empty()) return from();
  trace::Query query;
  auto program = programOf(options_.program);
  if (!program) return failure(program.error());
  query.program = *program;
  query.op = options_.op;
  query.result = options_.result;
  query.operand = options_.operand;
  query.line = options_.line;
  query.file = options_.inFile;
  query.name = options_.name;
  query.occurrence = options_.occurrence;
  TS_CHECK(addTrips(options_.trips, false, query.trips));
  TS_CHECK(addTrips(options_.where, true, query.trips));
  if (query.op || !query.name.empty()) return one(query);
  if (!query.line) return list();
  const auto lines = trace::namesByLine(*values_, query.file);
  const auto names = lines.find(query.line);
  if (names == lines.end()) {
    query.name = "?";  // the error says which lines have variables
    return failure(values_->at(query).error());
  }
  std::string text;
  for (const std::string& name : names->second) {
    query.name = name;
    auto shown = one(query);
    if (!shown) return failure(shown.error());
    text += *shown;
  }
  return text;
}

int show(const ShowOptions& options) {
  Shown shown(options, isatty(STDOUT_FILENO) != 0 && !std::getenv("NO_COLOR"));
  if (const Status opened = shown.open(); !opened) {
    printError(opened.error());
    return 2;
  }
  auto text = shown.asked();
  if (!text) {
    const Diagnostic& error = text.error();
    if (!error.file.empty()) printError(error);
    // One line, however long: scripts and grep take errors by the line, and a terminal breaks it by itself.
    else printErr(printable(fmt::format("tilesight show: error: {}{}", error.message, error.remedy.empty() ? "" : "; " + error.remedy)) + "\n");
    return 2;
  }
  printOut(shown.head() + *text);
  return shown.wrong() ? 1 : 0;
}

}  // namespace tilesight::tools
