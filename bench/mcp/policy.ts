const CHECKED = {
  path: { tools: ['read_file'], checks: [{ path: { args: ['/path'], inside: ['.'] } }] },
  shell: { tools: ['run_command'], checks: [{ shell: { args: ['/command'], allow: ['npm test', 'git status'] } }] },
  sql: {
    tools: ['query'],
    checks: [{ sql: { args: ['/sql'], dialect: 'postgres', operations: ['select'] } }],
  },
} as const

/** What a call is checked for. */
export type Checked = keyof typeof CHECKED

const RULES = 20

/** A policy of 20 rules, of which one speaks about each call of the bench and lets it through by its check. */
export const policy = {
  version: 1,
  default: 'deny',
  hide_denied_tools: true,
  rules: [
    ...Object.entries(CHECKED).map(([id, rule]) => ({ id, action: 'allow', ...rule })),
    ...Array.from({ length: RULES - Object.keys(CHECKED).length }, (_, index) => ({
      id: `other-${index}`,
      tools: [`other_${index}_*`],
      action: index % 2 === 0 ? 'deny' : 'confirm',
    })),
  ],
}

const text = { type: 'string' }
const tool = (name: string, argument: string) => ({
  name,
  description: 'A tool of the bench',
  inputSchema: { type: 'object', properties: { [argument]: text }, required: [argument], additionalProperties: false },
})

/** What a client asks a tool for. */
export interface BenchCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, string>>
}

/** Calls that pass, by what they are checked for. */
export const calls: Readonly<Record<Checked, BenchCall>> = {
  path: { name: 'read_file', arguments: { path: 'package.json' } },
  shell: { name: 'run_command', arguments: { command: 'npm test -- --watch' } },
  sql: { name: 'query', arguments: { sql: 'SELECT id, name FROM users WHERE age > 30 ORDER BY name LIMIT 10' } },
}

/** The result of `tools/list` of the bench's server. */
export const toolList = { tools: [tool('read_file', 'path'), tool('run_command', 'command'), tool('query', 'sql')] }

/** The result of each call of the bench's server. */
export const called = { content: [{ type: 'text' as const, text: 'done '.repeat(40) }] }
