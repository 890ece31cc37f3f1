/** Arguments in which a model describes what a call is for, without case, `_` and `-`. Nothing that a tool does depends on them. */
const names: ReadonlySet<string> = new Set([
  // Claude Code's Bash, Gemini CLI's run_shell_command
  'description',
  // Codex: update_plan, exec_command
  'explanation',
  'justification',
  // Gemini CLI: replace
  'instruction',
  // agents that think within a call
  'thought',
  'thoughts',
  'thinking',
  'reason',
  'reasoning',
  'rationale',
  'analysis',
  'purpose',
  'intent',
  'reflection',
  'comment',
])

/** Whether a member of this name is prose beside what a call does. */
export const isProse = (name: string): boolean => names.has(name.replace(/[_-]/g, '').toLowerCase())

/** The canonical arguments without prose; undefined where there is no prose among them, or nothing else. */
export const withoutProse = (args: string): string | undefined => {
  if (!args.startsWith('{') || !mayHold.test(args)) return undefined
  let value: Readonly<Record<string, unknown>>
  try {
    value = JSON.parse(args) as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
  const members = Object.entries(value)
  const rest = members.filter(([name]) => !isProse(name))
  if (rest.length === members.length || rest.length === 0) return undefined
  return JSON.stringify(rest)
}

const mayHold = /"(?:desc|expl|just|inst|th|reas|rat|anal|purp|inte|refl|comm)[\w-]{0,20}":/i
