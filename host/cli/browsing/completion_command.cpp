#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/measure/conditions.hpp"
#include "host/reduce/catalogue.hpp"
#include "host/reduce/element.hpp"
#include "host/reduce/operator_list.hpp"

namespace tenfold::cli {
namespace {

constexpr std::string_view for_zsh =
    "autoload -U +X compinit && compinit -u\n"
    "autoload -U +X bashcompinit && bashcompinit\n";

// Where nothing here fits, the shell offers files.
constexpr std::string_view script = R"(_tenfold() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      --preset) ((i++)) ;;
      -*) ;;
      *) verb=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case ${{COMP_WORDS[COMP_CWORD-1]}} in
    --type) words='{types}' ;;
    --op) words='{operators}' ;;
    --mode) words='{modes}' ;;
    --schedule) words='in-order reverse random:' ;;
    --json|--input|--kernel) ;;
    *)
      case $verb in
        '') words='{verbs}'
          # The script of the same name has more.
          [[ ! -e ${{COMP_WORDS[0]%/*}}/CMakePresets.json ]] || words+=' test docs --preset --yes --build-only' ;;
        help) words='{verbs}' ;;
        completion) words='bash zsh' ;;
{options}      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _tenfold tenfold
)";

std::string words_of(const CLI::App& verb) {
  std::vector<std::string> words;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    const std::string& position = option->get_name();
    if (position == "STAGE" || position == "A")
      for (const stage_info& stage : catalogue) words.emplace_back(stage.name);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

exit_code print_completion(const CLI::App& app, std::string_view shell) {
  std::vector<std::string> verbs;
  std::string options;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    verbs.push_back(each->get_name());
    options += fmt::format("        {}) words='{}' ;;\n", verbs.back(), words_of(*each));
  }
  std::vector<std::string_view> modes;
  for (const measure::timing_mode mode : measure::timing_modes)
    modes.push_back(measure::name_of(mode));
  fmt::print("# Completion for {0}; in a shell: source <(tenfold completion {0})\n{1}", shell,
             shell == "zsh" ? for_zsh : "");
  fmt::print(script, fmt::arg("types", fmt::join(element_type_names, " ")),
             fmt::arg("operators", fmt::join(operator_names, " ")),
             fmt::arg("modes", fmt::join(modes, " ")), fmt::arg("verbs", fmt::join(verbs, " ")),
             fmt::arg("options", options));
  return exit_code::success;
}

}  // namespace

void add_completion_verb(CLI::App& app, action& chosen) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "a script that completes command lines in bash or zsh");
  completion->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback(
      [&app, &chosen, shell] { chosen = [&app, shell] { return print_completion(app, *shell); }; });
}

}  // namespace tenfold::cli
