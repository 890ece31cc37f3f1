import type { Step } from '../quality/trajectory.ts'
import type { Author } from './author.ts'

/** A turn without a call, and the reply of the harness or the user. */
export const words = (text: string, user: string): Step => ({
  calls: [],
  results: [],
  text,
  user,
  user_chars: user.length,
})

/** How an agent without tool calls writes a command after a thought, and the reply of its harness. */
export type Protocol = (thought: string, command: string, output: string) => Step

/** Protocols of agents without tool calls. */
export const protocols = {
  fence: (thought, command, output) =>
    words(
      `THOUGHT: ${thought}\n\n\`\`\`bash\n${command}\n\`\`\``,
      `<returncode>0</returncode>\n<output>\n${output}\n</output>`,
    ),
  tag: (thought, command, output) =>
    words(`${thought}\n<execute_bash>\n${command}\n</execute_bash>`, `EXECUTION RESULT of [execute_bash]:\n${output}`),
  json: (thought, command, output) =>
    words(
      JSON.stringify({ analysis: thought, plan: 'Run it.', commands: [{ keystrokes: `${command}\n`, duration: 1 }] }),
      `New Terminal Output:\n\nroot@box:/app# ${command}\n${output}\nroot@box:/app#`,
    ),
} as const satisfies Readonly<Record<string, Protocol>>

/** A new thought each time. */
export const thought = (author: Author): string => author.lines(1)[0] ?? ''
