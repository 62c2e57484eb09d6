/**
 * What shells load. Each gives the words of the line to `isthmus __complete`, which answers as kubectl expects it of its plugins: a
 * candidate a line, and in the last line `:4`, or `:0` where files are to be offered.
 */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# bash completion for isthmus; load it with: source <(isthmus completion bash)
_isthmus() {
  local line="\${COMP_LINE:0:COMP_POINT}" answer
  local -a words
  read -ra words <<<"$line"
  [[ "$line" == *" " ]] && words+=("")
  mapfile -t answer < <(isthmus __complete -- "\${words[@]:1}" 2>/dev/null)
  local directive="\${answer[-1]:-:0}"
  unset 'answer[-1]'
  local current="\${words[-1]}"
  if [[ "$directive" == ":0" ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    COMPREPLY=("\${answer[@]}")
    [[ \${#answer[@]} -eq 1 ]] || compopt -o nosort 2>/dev/null
  fi
}
complete -F _isthmus isthmus
`;

const ZSH = `#compdef isthmus
# zsh completion for isthmus; load it with: source <(isthmus completion zsh)
_isthmus() {
  local -a answer
  answer=("\${(@f)$(isthmus __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local directive="\${answer[-1]}"
  answer=("\${(@)answer[1,-2]}")
  if [[ "$directive" == ":0" ]]; then
    _files
  elif (( \${#answer} )); then
    compadd -- "\${answer[@]}"
  fi
}
(( \${+functions[compdef]} )) && compdef _isthmus isthmus
`;

const FISH = `# fish completion for isthmus; load it with: isthmus completion fish | source
function __isthmus_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer (isthmus __complete -- $words[2..-1] 2>/dev/null)
    if test "$answer[-1]" = ":0"
        __fish_complete_path (commandline -ct)
    else if test (count $answer) -gt 1
        printf '%s\\n' $answer[1..-2]
    end
end
complete -c isthmus -f -a '(__isthmus_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
