const CHECKED = {
  path: { tools: ['read_file'], checks: [{ path: { args: ['/path'], inside: ['.'] } }] },
  shell: { tools: ['run_command'], checks: [{ shell: { args: ['/command'], allow: ['npm test', 'git status'] } }] },
  sql: {
    tools: ['query'],
    checks: [{ sql: { args: ['/sql'], dialect: 'postgres', operations: ['select'] } }],
  },
} as const

/** The checks of the bench policy. */
export type Checked = keyof typeof CHECKED

const RULES = 20

/** A policy of 20 rules. Exactly one rule matches each bench call and allows it by its check. */
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

/** Parameters of a tool call. */
export interface BenchCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, string>>
}

/** An allowed call for each check. */
export const calls: Readonly<Record<Checked, BenchCall>> = {
  path: { name: 'read_file', arguments: { path: 'package.json' } },
  shell: { name: 'run_command', arguments: { command: 'npm test -- --watch' } },
  sql: { name: 'query', arguments: { sql: 'SELECT id, name FROM users WHERE age > 30 ORDER BY name LIMIT 10' } },
}

/** The `tools/list` result of the bench server. */
export const toolList = { tools: [tool('read_file', 'path'), tool('run_command', 'command'), tool('query', 'sql')] }

/** The result of every call to the bench server. */
export const called = { content: [{ type: 'text' as const, text: 'done '.repeat(40) }] }
