#include "findings/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "findings/format.h"

namespace tilesight::findings {
namespace {

Style styleOf(Severity severity) {
  switch (severity) {
    case Severity::Error: return Style::Error;
    case Severity::Warning: return Style::Warning;
    case Severity::Note: return Style::Note;
  }
  return Style::Note;
}

void clean(std::string& text) { text = printable(text); }

void clean(std::vector<std::string>& texts) {
  for (std::string& text : texts) clean(text);
}

void clean(Frame& frame) {
  clean(frame.file);
  clean(frame.function);
}

void cleanLine(std::string& line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
  clean(line);
}

/// A copy whose texts are fit for a terminal.
Finding cleaned(Finding finding) {
  clean(finding.kind);
  clean(finding.message);
  clean(finding.kernel);
  clean(finding.location);
  cleanLine(finding.sourceLine);
  for (Frame& frame : finding.stack) clean(frame);
  for (Iteration& iteration : finding.iterations) clean(iteration.name);
  if (finding.operand) {
    clean(finding.operand->argument);
    clean(finding.operand->dtype);
  }
  for (Because& because : finding.because) {
    clean(because.name);
    clean(because.expression);
    clean(because.value);
  }
  clean(finding.notes);
  clean(finding.consequences);
  clean(finding.remedy);
  return finding;
}

Unknown cleaned(Unknown unknown) {
  clean(unknown.kernel);
  clean(unknown.reason);
  clean(unknown.location);
  cleanLine(unknown.sourceLine);
  return unknown;
}

std::string placeText(const Frame& frame, const std::string& directory) {
  std::string text = relativePath(frame.file, directory);
  if (frame.line) text += fmt::format(":{}", frame.line);
  if (frame.line && frame.column) text += fmt::format(":{}", frame.column);
  return text;
}

/// What stands before the caret on its line, so that both columns agree: tabs stay tabs, and the
/// continuation bytes of UTF-8 take no column. `column` is 1-based and counts bytes.
std::string caretPadding(std::string_view sourceLine, uint32_t column) {
  std::string padding;
  const size_t before = std::min<size_t>(column ? column - 1 : 0, sourceLine.size());
  for (char c : sourceLine.substr(0, before)) {
    if (c == '\t') padding += '\t';
    else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) padding += ' ';
  }
  return padding;
}

/// The source line with a caret and `remark` behind it; the remark alone without a source line.
std::string sourceText(const std::string& sourceLine, const Frame& place, const std::string& remark,
                       const Painter& paint) {
  if (sourceLine.empty() || !place.line) return remark.empty() ? "" : "  " + remark + "\n";
  const std::string number = std::to_string(place.line);
  const std::string& line = sourceLine;
  std::string out = fmt::format("  {} | {}\n", number, line);
  if (place.column)
    out += fmt::format("  {} | {}{} {}", std::string(number.size(), ' '),
                       caretPadding(line, place.column), paint(Style::Caret, "^"), remark);
  else
    out += fmt::format("  {} | {}", std::string(number.size(), ' '), remark);
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

std::string programText(const std::array<int64_t, 3>& id) {
  return fmt::format("program ({},{},{})", id[0], id[1], id[2]);
}

std::string iterationText(const Iteration& iteration) {
  if (iteration.name.empty()) return fmt::format("#{}", iteration.trip);
  return fmt::format("{}={}", iteration.name, iteration.value);
}

/// "K[1,7,1000,0]", or "K + 2,048,000 bytes" where the address is no whole element of an axis.
std::string targetText(const Operand& operand) {
  if (!operand.index.empty()) return operand.argument + indexText(operand.index);
  if (operand.argument.empty()) return "";
  if (operand.byteOffset == 0) return operand.argument;
  return fmt::format("{} {} {}", operand.argument, operand.byteOffset < 0 ? "-" : "+",
                     counted(std::abs(operand.byteOffset), "byte"));
}

/// "program (0,15,0), iteration start_n=960, element [40,0] = K[1,7,1000,0]".
std::string witnessText(const Finding& finding) {
  std::string text;
  if (finding.launch) text += fmt::format("launch {}, ", finding.launch);
  text += programText(finding.program);
  if (!finding.iterations.empty()) {
    text += finding.iterations.size() > 1 ? ", iterations " : ", iteration ";
    for (size_t i = 0; i < finding.iterations.size(); ++i)
      text += (i ? ", " : "") + iterationText(finding.iterations[i]);
  }
  const std::string target = finding.operand ? targetText(*finding.operand) : "";
  if (!finding.element.empty()) {
    text += ", element " + indexText(finding.element);
    if (!target.empty()) text += " = " + target;
  } else if (!target.empty()) {
    text += ", " + target;
  }
  return text;
}

/// "K: float16 [2,8,1000,64], strides [512000,64000,64,1], 2,048,000 bytes".
std::string operandText(const Operand& operand) {
  if (operand.argument.empty()) return "";
  std::string text = operand.argument + ":";
  if (!operand.dtype.empty()) text += fmt::format(" {}", operand.dtype);
  text += fmt::format(" {}", indexText(operand.shape));
  if (!operand.strides.empty()) text += fmt::format(", strides {}", indexText(operand.strides));
  if (operand.allocationBytes != operand.viewBytes)
    text += fmt::format(", {} of an allocation of {}", counted(operand.viewBytes, "byte"),
                        grouped(operand.allocationBytes));
  else
    text += ", " + counted(operand.allocationBytes, "byte");
  if (!operand.allocationKnown) text += " (its allocation is unknown: taken to be the view)";
  return text;
}

std::string becauseText(const Because& because) {
  std::string text = because.name;
  if (!because.expression.empty() && because.expression != because.name)
    text += (text.empty() ? "" : " = ") + because.expression;
  if (!because.value.empty() && because.value != because.expression)
    text += (text.empty() ? "" : " = ") + because.value;
  return text;
}

/// Items on one line as long as they fit, else one line each under the label.
// Loop variables are in the witness line already.
bool isIteration(const Because& because, const std::vector<Iteration>& iterations) {
  return because.expression.empty() &&
         std::any_of(iterations.begin(), iterations.end(),
                     [&](const Iteration& iteration) { return iteration.name == because.name; });
}

std::string becauseLines(const std::vector<Because>& chain, const std::vector<Iteration>& iterations) {
  std::vector<std::string> items;
  for (const Because& because : chain)
    if (isIteration(because, iterations)) continue;
    else if (std::string item = becauseText(because); !item.empty()) items.push_back(std::move(item));
  if (items.empty()) return "";
  constexpr std::string_view label = "  because: ";
  std::string line = std::string(label) + joined(items, ";  ");
  if (line.size() <= 110) return line + "\n";
  return std::string(label) + joined(items, "\n" + std::string(label.size(), ' ')) + "\n";
}

std::string countsText(const Finding& finding) {
  std::vector<std::string> parts;
  if (finding.countPrograms)
    parts.push_back(counted(finding.countPrograms, "program") +
                    (finding.kind != "deadlock" ? "" : finding.countPrograms == 1 ? " waits" : " wait"));
  if (finding.countElements) parts.push_back(counted(finding.countElements, "element"));
  if (finding.countLaunches > 1) parts.push_back(counted(finding.countLaunches, "launch"));
  return joined(parts, ", ");
}

/// "1 error, 2 warnings", or "" if there are none.
std::string severityCounts(uint32_t errors, uint32_t warnings, uint32_t notes) {
  std::vector<std::string> parts;
  if (errors) parts.push_back(counted(errors, "error"));
  if (warnings) parts.push_back(counted(warnings, "warning"));
  if (notes) parts.push_back(counted(notes, "note"));
  return joined(parts, ", ");
}

/// What a launch without findings and unknowns amounts to: without a client that looks at accesses, a
/// kernel was only executed.
std::string cleanVerdict(const std::vector<std::string>& checked) {
  bool looked = std::find(checked.begin(), checked.end(), "bounds") != checked.end();
  return looked || checked.empty() ? "ok" : "executed, bounds not checked";
}

std::string kernelLine(const KernelSummary& kernel, const std::string& name, const Painter& paint) {
  std::string verdict = severityCounts(kernel.errors, kernel.warnings, kernel.notes);
  if (kernel.unknowns) {
    if (!verdict.empty()) verdict += ", ";
    verdict += fmt::format("unknown ({})", counted(kernel.unknowns, "reason"));
  }
  if (verdict.empty()) verdict = cleanVerdict(kernel.checked);
  if (kernel.accepted) verdict += fmt::format(" ({} accepted by baseline)", kernel.accepted);
  std::string line = fmt::format("{}: {}, {}, {}", paint(Style::Place, printable(name)),
                                 counted(kernel.launches, "launch"), verdict,
                                 duration(kernel.seconds));
  if (kernel.traceRecords)
    line += "; traced: " + counted(static_cast<int64_t>(kernel.traceRecords), "record");
  if (!kernel.notChecked.empty()) line += "; not checked: " + joined(kernel.notChecked, ", ");
  return line + "\n";
}

/// The kernel's name, with its file where another one has the same name.
std::string kernelName(const KernelSummary& kernel, const std::vector<KernelSummary>& all,
                       const std::string& directory) {
  const auto same = std::count_if(all.begin(), all.end(), [&](const KernelSummary& other) {
    return other.kernel == kernel.kernel;
  });
  if (same < 2 || kernel.file.empty()) return kernel.kernel;
  return fmt::format("{} ({})", kernel.kernel, relativePath(kernel.file, directory));
}

}  // namespace

std::string summaryLine(const Session& session) {
  uint32_t errors = 0, warnings = 0, notes = 0;
  for (const Finding& finding : session.findings()) {
    errors += finding.severity == Severity::Error;
    warnings += finding.severity == Severity::Warning;
    notes += finding.severity == Severity::Note;
  }
  std::vector<std::string> checked, notChecked;
  const std::vector<KernelSummary> kernels = session.kernels();
  for (const KernelSummary& kernel : kernels) {
    addMissing(checked, kernel.checked);
    addMissing(notChecked, kernel.notChecked);
  }
  std::erase_if(checked, [&](const std::string& item) {
    return std::find(notChecked.begin(), notChecked.end(), item) != notChecked.end();
  });

  std::string verdict = severityCounts(errors, warnings, notes);
  if (!session.unknowns().empty()) {
    if (!verdict.empty()) verdict += ", ";
    verdict += counted(static_cast<int64_t>(session.unknowns().size()), "unknown");
  }
  if (verdict.empty()) verdict = cleanVerdict(checked);
  if (const size_t accepted = session.accepted().size())
    verdict += fmt::format(", {} accepted by baseline", accepted);
  if (session.suppressed()) verdict += fmt::format(", {} suppressed", session.suppressed());
  std::string line =
      fmt::format("{}, {}, {}: {}.", counted(static_cast<int64_t>(kernels.size()), "kernel"),
                  counted(session.launches(), "launch"), duration(session.seconds()), verdict);
  if (!checked.empty()) line += "  Checked: " + joined(checked, ", ") + ".";
  if (!notChecked.empty()) line += "  Not checked: " + joined(notChecked, ", ") + ".";
  return line + "\n";
}

std::string findingText(const Finding& raw, bool colour, const std::string& directory) {
  const Painter paint(colour);
  const Finding finding = cleaned(raw);
  std::string place = placeText(finding.location, directory);
  if (place.empty()) place = finding.kernel;
  std::string out = fmt::format("{}: {}: {}: {}\n", paint(Style::Place, place),
                                paint(styleOf(finding.severity), severityName(finding.severity)),
                                finding.kind, finding.message);
  out += sourceText(finding.sourceLine, finding.location, witnessText(finding), paint);
  for (const Frame& frame : finding.stack) {
    out += "  called from " + placeText(frame, directory);
    if (!frame.function.empty()) out += " in " + frame.function;
    out += "\n";
  }
  out += becauseLines(finding.because, finding.iterations);
  if (finding.operand)
    if (const std::string text = operandText(*finding.operand); !text.empty())
      out += "  " + text + "\n";
  if (!finding.test.empty()) out += "  in test " + finding.test + "\n";
  for (const std::string& note : finding.notes) out += wrapped(note, "  note: ", "        ");
  for (const std::string& consequence : finding.consequences)
    out += wrapped(consequence, "  then: ", "        ");
  if (!finding.remedy.empty()) out += wrapped(finding.remedy, "  help: ", "        ");
  if (const std::string counts = countsText(finding); !counts.empty()) out += "  " + counts + "\n";
  return out;
}

std::string evidenceText(const Finding& finding, const std::string& directory) {
  std::string text = findingText(finding, false, directory);
  text.erase(0, text.find('\n') + 1);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string nothingChecked(const Session& session) {
  const std::string& reason = session.noLaunchReason();
  return (reason.empty() ? "no kernel was launched" : reason) + ": nothing was checked";
}

std::string unknownText(const UnknownSummary& summary, bool colour, const std::string& directory) {
  const Painter paint(colour);
  const Unknown unknown = cleaned(summary.unknown);
  std::string place = placeText(unknown.location, directory);
  std::string remark;
  if (place.empty()) place = unknown.kernel;
  else if (!unknown.kernel.empty()) remark = "kernel " + unknown.kernel;
  if (summary.launches > 1)
    remark += (remark.empty() ? "" : ", ") + counted(summary.launches, "launch");
  return fmt::format("{}: {}: {}\n", paint(Style::Place, place), paint(Style::Unknown, "unknown"),
                     unknown.reason) +
         sourceText(unknown.sourceLine, unknown.location, remark, paint);
}

std::string sessionText(const Session& session, bool colour) {
  const Painter paint(colour);
  const SessionOptions& options = session.options();
  std::string out;
  for (const std::string& message : session.internalErrors())
    out += fmt::format("tilesight: {}: {}\n", paint(Style::Error, "internal error"), printable(message));
  for (const Diagnostic& problem : session.problems()) out += printable(problem.str()) + "\n";

  size_t shown = 0;
  for (const Finding& finding : session.findings()) {
    if (options.printLimit && shown == options.printLimit) break;
    out += findingText(finding, colour, options.workingDirectory) + "\n";
    ++shown;
  }
  if (const size_t hidden = session.findings().size() - shown)
    out += fmt::format("{} not shown (--print-limit 0 shows all)\n\n",
                       counted(static_cast<int64_t>(hidden), "more finding"));
  for (const UnknownSummary& unknown : session.unknowns())
    out += unknownText(unknown, colour, options.workingDirectory) + "\n";

  if (options.quiet) return out;
  for (const std::string& note : session.notes())
    out += wrapped(printable(note), "note: ", "      ");
  if (session.launches()) {
    const std::vector<KernelSummary> kernels = session.kernels();
    for (const KernelSummary& kernel : kernels)
      out += kernelLine(kernel, kernelName(kernel, kernels, options.workingDirectory), paint);
    out += summaryLine(session);
  } else if (session.problems().empty() && session.internalErrors().empty()) {
    out += printable(nothingChecked(session)) + "\n";
  }
  return out;
}

}  // namespace tilesight::findings
