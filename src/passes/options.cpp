#include "passes/options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "findings/nearest.h"

namespace tilesight::passes {

namespace {

std::string near(const std::string& name, const std::vector<std::string>& candidates) {
  return findings::didYouMean(name, std::vector<std::string_view>(candidates.begin(), candidates.end()));
}

Result<OptionValue> valueOf(const Pass& pass, const OptionInfo& option, const std::string& text) {
  const auto wrong = [&](std::string_view must) {
    return failure(fmt::format("option '{}' of pass '{}' cannot be '{}': it must be {}", option.name, pass.name, text, must));
  };
  switch (option.kind) {
    case OptionInfo::Kind::Integer: {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size() || value < option.least || value > option.most) return wrong(describe(option));
      return OptionValue(value);
    }
    case OptionInfo::Kind::Boolean:
      if (text == "true" || text == "1" || text.empty()) return OptionValue(true);
      if (text == "false" || text == "0") return OptionValue(false);
      return wrong("true or false");
    case OptionInfo::Kind::Choice:
      if (std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end())
        return wrong(fmt::format("one of {}{}", fmt::join(option.choices, ", "), near(text, option.choices)));
      return OptionValue(text);
    default: return OptionValue(text);
  }
}

}  // namespace

std::string describe(const OptionInfo& option) {
  switch (option.kind) {
    case OptionInfo::Kind::Integer:
      if (option.least == INT64_MIN && option.most == INT64_MAX) return "a whole number";
      if (option.most == INT64_MAX) return fmt::format("a whole number from {}", option.least);
      return fmt::format("a whole number from {} to {}", option.least, option.most);
    case OptionInfo::Kind::Boolean: return "true or false";
    case OptionInfo::Kind::Choice: return fmt::format("one of {}", fmt::join(option.choices, ", "));
    default: return "text";
  }
}

Result<OptionValues> optionValues(const Pass& pass, const std::vector<std::pair<std::string, std::string>>& given) {
  OptionValues values;
  for (const OptionInfo& option : pass.options) values.push_back(option.fallback);
  std::vector<bool> set(values.size());
  for (const auto& [name, text] : given) {
    const auto found = std::find_if(pass.options.begin(), pass.options.end(), [&](const OptionInfo& option) { return option.name == name; });
    if (found == pass.options.end()) {
      std::vector<std::string> names;
      for (const OptionInfo& option : pass.options) names.push_back(option.name);
      return failure(fmt::format("pass '{}' has no option '{}'{}", pass.name, name,
                                 names.empty() ? "; it has none" : near(name, names)));
    }
    const size_t at = static_cast<size_t>(found - pass.options.begin());
    if (set[at]) return failure(fmt::format("option '{}' of pass '{}' is given twice", name, pass.name));
    set[at] = true;
    auto value = valueOf(pass, *found, text);
    if (!value) return tl::unexpected<Diagnostic>(value.error());
    values[at] = std::move(*value);
  }
  return values;
}

}  // namespace tilesight::passes
