#include "trace/story.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/source_line.h"

namespace tilesight::trace {

using findings::counted;
using findings::grouped;
using findings::Painter;
using findings::printable;
using findings::Style;

namespace {

std::string programText(const std::array<int64_t, 3>& program) { return fmt::format("program ({})", fmt::join(program, ", ")); }

std::string turnsText(const std::vector<Iteration>& iterations) {
  std::string text;
  for (const Iteration& i : iterations)
    text += i.name.empty() ? fmt::format(", turn {} of while", i.trip) : fmt::format(", {} = {} (turn {})", i.name, i.value, i.trip);
  return text;
}

std::string lineText(const Values& values, const std::string& file, uint32_t line, const Painter& paint) {
  const std::string source = printable(findings::trimmed(exec::sourceLine(values.launch(), file, line)));
  return fmt::format("{}  {}", paint(Style::Place, fmt::format("{}:{}", printable(file.substr(file.rfind('/') + 1)), line)), source);
}

// "acc[17, 5] = 0.25", "p[17, 0:64]: min 0  max 1  mean 0.02"
std::string valueText(const std::string& name, const std::vector<int64_t>& shape, const Region& elements, const Statistics& values,
                      const std::string& value, const Painter& paint, bool mask = false) {
  const std::string what = shape.empty() ? name : elements.text(name);
  if (values.count == 1) return fmt::format("{} = {}", what, value == "nan" ? paint(Style::Error, value) : value);
  if (mask && values.count)
    return fmt::format("{}: {} true", what, values.zero == 0 ? "all are" : values.zero == values.count ? "none is"
                       : fmt::format("{} of {} are", grouped(values.count - values.zero), grouped(values.count)));
  return values.count ? fmt::format("{}: {}", what, values.text()) : what;
}

std::string elementText(const std::string& name, const std::vector<int64_t>& index) {
  return index.empty() ? name : fmt::format("{}[{}]", name, fmt::join(index, ", "));
}

// "v - m", "exp(...)"
std::string expressionText(const NonFinite& found) {
  std::vector<std::string> names;
  for (const OperandSeen& operand : found.operands) names.push_back(operand.name.empty() ? "..." : operand.name);
  const bool sign = found.operation.size() == 1 && names.size() == 2;
  return sign ? fmt::format("{} {} {}", names[0], found.operation, names[1]) : fmt::format("{}({})", found.operation, fmt::join(names, ", "));
}

std::string foundText(const Values& values, const NonFinite& found, const Painter& paint) {
  const Site& site = values.sites()[found.site];
  std::string name = found.result < site.values.size() ? site.values[found.result].name : std::string();
  const std::string expression = expressionText(found);
  const bool named = !name.empty() && !found.isPart;
  if (!named) name = expression;
  std::string text = fmt::format("{}{}\n", programText(found.program), turnsText(found.iterations));
  text += "  " + lineText(values, site.file, site.line, paint) + "\n";
  if (named) text += fmt::format("    {} is {}: made by {}", elementName(printable(name), found.shape, found.element), paint(Style::Error, found.value), printable(expression));
  else text += fmt::format("    {} is {}{}", printable(name), paint(Style::Error, found.value),
                           found.shape.empty() ? "" : fmt::format(" at [{}]", fmt::join(indexOfNumber(found.shape, found.element), ", ")));
  if (found.inTile > 1) text += fmt::format(", and so are {} of the tile", counted(found.inTile - 1, "more element"));
  text += "\n";
  for (size_t i = 0; i < found.operands.size(); ++i) {
    const OperandSeen& operand = found.operands[i];
    text += fmt::format("      {}\n", valueText(operand.name.empty() ? fmt::format("operand {}", i) : operand.name, operand.shape, operand.elements, operand.values,
                                                operand.value, paint));
  }
  if (!found.slice.chain.empty() || !found.slice.sources.empty()) text += "  how it came about\n" + chainText(values, found.slice, paint, 12);
  return text;
}

}  // namespace

std::string chainText(const Values& values, const Slice& slice, const Painter& paint, size_t limit) {
  std::string text, file;
  uint32_t line = 0;
  std::array<int64_t, 3> program = slice.program;
  size_t lines = 0;
  for (const Link& link : slice.chain) {
    if (link.file.find("triton/language/") != std::string::npos) continue;
    if (link.file != file || link.line != line || link.program != program) {
      if (limit && lines == limit) {
        text += paint(Style::Faint, "    ... earlier lines are left out") + "\n";
        break;
      }
      ++lines;
      file = link.file;
      line = link.line;
      program = link.program;
      text += "    " + lineText(values, file, line, paint) + "\n";
    }
    if (link.store) {
      text += fmt::format("      {}: stored by {}\n", link.shape.empty() ? printable(link.name) : link.elements.text(printable(link.name)), programText(link.program));
      continue;
    }
    text += "      " + valueText(printable(link.name), link.shape, link.elements, link.values, link.value, paint, link.type == "i1" || link.type.ends_with("xi1>"));
    if (!link.iterations.empty()) text += paint(Style::Faint, turnsText(link.iterations));
    if (link.times > 1) text += paint(Style::Faint, fmt::format(", and in {} before", counted(link.times - 1, "turn")));
    text += "\n";
  }
  if (slice.sources.empty() && slice.scalars.empty() && !slice.unknown) return text + "  it came from no input: constants and program numbers only\n";
  text += "  it came from\n";
  for (const Source& source : slice.sources) {
    text += fmt::format("    {}{}", source.region.text(printable(source.name)), source.region.exact && source.region.count > 1 ? fmt::format("  ({})", counted(source.region.count, "element")) : "");
    if (source.mayHaveChanged) text += ", as they were when the program read them: programs of the launch write this tensor";
    if (source.outside) text += paint(Style::Warning, fmt::format(", and {} outside of it", counted(source.outside, "read")));
    text += "\n";
  }
  if (slice.unknown) text += fmt::format("    {} from memory that is no tensor of the launch\n", counted(slice.unknown, "element"));
  if (!slice.scalars.empty()) text += fmt::format("    {}\n", printable(fmt::format("{}", fmt::join(slice.scalars, ", "))));
  return text;
}

std::string writtenText(const Values& values, const std::string& element, const Written& written, const Painter& paint) {
  const Site& site = values.sites()[written.site];
  std::string text = fmt::format("{} was last written by {}{}\n", printable(element), programText(written.slice.program), turnsText(written.iterations));
  text += "  " + lineText(values, site.file, site.line, paint) + "\n";
  text += fmt::format("    {} {}{}\n", written.atomic ? "an atomic operation with" : "stored", written.text.empty() ? "a value" : written.text,
                      written.shape.empty() ? "" : fmt::format(", element [{}] of the tile", fmt::join(indexOfNumber(written.shape, written.element), ", ")));
  return text + "  how it came about\n" + chainText(values, written.slice, paint);
}

std::string nonFiniteText(const Values& values, const NonFiniteReport& report, const Painter& paint) {
  std::string text;
  if (report.first) {
    text += fmt::format("the first {}: {}", report.first->isNan ? "NaN" : "infinity", foundText(values, *report.first, paint));
    if (report.firstNan) text += fmt::format("\nthe first NaN: {}", foundText(values, *report.firstNan, paint));
    else if (!report.first->isNan) text += "\nno operation makes a NaN\n";
  } else {
    text += fmt::format("no operation makes a NaN or an infinity: {} looked at\n", counted(report.programs, "program"));
  }
  for (const auto& input : report.inputs)
    text += fmt::format("{} holds {} already: {}, read by {}\n", printable(input.name), input.isNan ? "NaNs" : "infinities", elementText(printable(input.name), input.index),
                        programText(input.program));
  if (!report.stopped.empty()) text += paint(Style::Warning, "not all programs could be followed to their end: " + printable(report.stopped)) + "\n";
  return text;
}

std::string mismatchText(const Values& values, const Mismatch& m, const Painter& paint) {
  const std::string within = m.tolerance.relative || m.tolerance.absolute ? fmt::format(" within rtol {:g} and atol {:g}", m.tolerance.relative, m.tolerance.absolute) : "";
  const std::string name = printable(m.name);
  if (!m.wrong) return fmt::format("{} is as expected{}: {}\n", name, within, counted(m.elements, "element"));
  std::string text = fmt::format("{} of {} of {} {} not as expected{}\n", grouped(m.wrong), counted(m.elements, "element"), name, m.wrong == 1 ? "is" : "are", within);
  text += fmt::format("  wrong: {}\n", m.wrongElements.text(name));
  if (m.largestError > 0) text += fmt::format("  largest error: {} at {}\n", numberText(m.largestError), elementText(name, m.largestAt));
  text += fmt::format("the first wrong one: {} = {}, expected {}\n", elementText(name, m.index), paint(Style::Error, m.actual), m.expected);
  if (!m.written) return text + fmt::format("  no program writes it: it is {} as before the launch. Look at the grid, and at the masks of the stores\n", m.before);
  if (m.writers > 1) text += paint(Style::Warning, fmt::format("  {} write it; this is about the last one", counted(m.writers, "program"))) + "\n";
  return m.store ? text + writtenText(values, elementText(name, m.index), *m.store, paint) : text;
}

}  // namespace tilesight::trace
