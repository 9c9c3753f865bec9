#include "findings/text.h"

#include <algorithm>
#include <map>

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

/// What launches without findings and unknowns amount to: without a client that looks at accesses, a
/// kernel was only executed.
std::string cleanVerdict(const std::vector<KernelSummary>& kernels) {
  uint32_t judged = 0, unchecked = 0, launches = 0;
  for (const KernelSummary& kernel : kernels) {
    launches += kernel.launches;
    judged += kernel.judged;
    const auto found = kernel.unchecked.find("bounds");
    unchecked += found == kernel.unchecked.end() ? 0 : found->second;
  }
  if (!launches) return "";
  return judged && unchecked == judged ? "executed, bounds not checked" : "ok";
}

/// What launches of some kernels did not check.
struct Unchecked {
  std::vector<std::string> items;    // each with the number of launches unless it is all of them
  std::vector<std::string> without;  // why the bounds of some launches were not checked
  uint32_t some = 0, all = 0;        // those launches, of so many

  explicit Unchecked(const std::vector<KernelSummary>& kernels) {
    std::vector<std::string> names;
    std::map<std::string, uint32_t> counts;
    for (const KernelSummary& kernel : kernels) {
      all += kernel.judged;
      addMissing(names, kernel.notChecked);
      addMissing(without, kernel.without);
      for (const auto& [item, launches] : kernel.unchecked) counts[item] += launches;
    }
    const uint32_t bounds = counts["bounds"];
    if (bounds < all) some = bounds;
    for (const std::string& name : names) {
      const uint32_t count = counts[name];
      if (some && count == some) continue;  // they are told as a whole
      items.push_back(count == all ? name : fmt::format("{} in {} of {}", name, count, counted(all, "launch")));
    }
  }

  /// "1 of 5 launches was not checked: client off", or "".
  std::string launches() const {
    if (!some) return "";
    return fmt::format("{} of {} {} not checked: {}", some, counted(all, "launch"), some == 1 ? "was" : "were",
                       joined(without, "; "));
  }
};

std::string kernelLine(const KernelSummary& kernel, const std::string& name, const Painter& paint) {
  std::string verdict = severityCounts(kernel.errors, kernel.warnings, kernel.notes);
  if (kernel.unknowns) {
    if (!verdict.empty()) verdict += ", ";
    verdict += fmt::format("unknown ({})", counted(kernel.unknowns, "reason"));
  }
  if (verdict.empty()) verdict = cleanVerdict({kernel});
  if (kernel.accepted) verdict += fmt::format(" ({} accepted by baseline)", kernel.accepted);
  std::string line = fmt::format("{}: {}", paint(Style::Place, printable(name)), counted(kernel.launches, "launch"));
  if (kernel.launches) line += fmt::format(", {}, {}", verdict, duration(kernel.seconds));
  if (kernel.refused) line += fmt::format("; {} refused by Triton", counted(kernel.refused, "launch"));
  if (kernel.traceRecords)
    line += "; traced: " + counted(static_cast<int64_t>(kernel.traceRecords), "record");
  const Unchecked unchecked({kernel});
  if (const std::string some = unchecked.launches(); !some.empty()) line += "; " + some;
  if (!unchecked.items.empty()) line += "; not checked: " + joined(unchecked.items, ", ");
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

static std::string refusedText(uint32_t launches) {
  return fmt::format("{} {} refused by Triton (the program was told)", counted(launches, "launch"),
                     launches == 1 ? "was" : "were");
}

std::string summaryLine(const Session& session) {
  uint32_t errors = 0, warnings = 0, notes = 0;
  for (const Finding& finding : session.findings()) {
    errors += finding.severity == Severity::Error;
    warnings += finding.severity == Severity::Warning;
    notes += finding.severity == Severity::Note;
  }
  std::vector<std::string> checked;
  const std::vector<KernelSummary> kernels = session.kernels();
  const Unchecked unchecked(kernels);
  for (const KernelSummary& kernel : kernels) addMissing(checked, kernel.looked);
  std::erase_if(checked, [&](const std::string& item) {
    return std::any_of(unchecked.items.begin(), unchecked.items.end(),
                       [&](const std::string& other) { return other == item || other.starts_with(item + " in "); });
  });
  uint32_t refused = 0;
  for (const Refusal& refusal : session.refusals()) refused += refusal.launches;

  std::string verdict = severityCounts(errors, warnings, notes);
  if (!session.unknowns().empty()) {
    if (!verdict.empty()) verdict += ", ";
    verdict += counted(static_cast<int64_t>(session.unknowns().size()), "unknown");
  }
  if (verdict.empty()) verdict = cleanVerdict(kernels);
  if (const size_t accepted = session.accepted().size())
    verdict += fmt::format(", {} accepted by baseline", accepted);
  if (session.suppressed()) verdict += fmt::format(", {} suppressed", session.suppressed());
  std::string line =
      fmt::format("{}, {}, {}: {}.", counted(static_cast<int64_t>(kernels.size()), "kernel"),
                  counted(session.launches(), "launch"), duration(session.seconds()), verdict);
  if (!checked.empty()) line += "  Checked: " + joined(checked, ", ") + ".";
  if (!unchecked.items.empty()) line += "  Not checked: " + joined(unchecked.items, ", ") + ".";
  if (const std::string some = unchecked.launches(); !some.empty()) line += "  " + some + ".";
  if (refused) line += "  " + refusedText(refused) + ".";
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
  uint32_t refused = 0;
  for (const Refusal& refusal : session.refusals()) refused += refusal.launches;
  if (refused) return "no kernel was executed: nothing was checked; " + refusedText(refused);
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
  for (const Refusal& refusal : session.refusals()) {
    Frame place = refusal.location;
    clean(place);
    out += wrapped(printable(refusal.reason), placeText(place, options.workingDirectory) + ": refused: ", "      ");
  }
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
