import type { Static } from 'typebox'
import type { CommandContext } from '#lib/command'
import { writeJson } from '#lib/json'
import { columnLines, listedTime, paintedWord, painter, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { filtered, printPage } from './command-context.ts'
import type { agentSchema, agentsPage, issued, oneAgent, registered } from './schemas.ts'

const filters = { project: 'project_id', paused: 'paused', limit: 'limit', cursor: 'cursor' }
const head = ['agent', 'name', 'state', 'project', 'since', 'keys', 'registered by']
/** By whom it was registered, keys, project, name. */
const spare = [6, 5, 3, 1]
const free = new Map([
  [0, 16],
  [1, 12],
  [3, 10],
])

/** Prints a page of agents, one a line. */
export const listAgents = async (context: CommandContext): Promise<void> => {
  const page = (await context.ask('GET', filtered('/api/agents', context.input, filters))) as Static<typeof agentsPage>
  const { input, io, now } = context
  const width = terminalWidth(io.out)
  const colour = painter(input, io)
  const paint = (cell: string, column: number): string => (column === 2 ? paintedWord(cell, colour) : cell)
  const lines = ({ agents }: typeof page) =>
    agents.length === 0
      ? []
      : columnLines([head, ...agents.map((agent) => rowOf(agent, now, width !== undefined))], new Set([5]), {
          width,
          spare,
          free,
          paint,
        })
  printPage(page, context, lines, 'There are no such agents.')
}

/** Registers an agent; only its key, which cannot be printed again, goes to stdout. */
export const addAgent = async ({ ask, input, io }: CommandContext): Promise<void> => {
  const { name, project, key } = input.options
  const answer = (await ask('POST', '/api/agents', {
    id: input.args[0] ?? '',
    ...(name === undefined ? {} : { name: String(name) }),
    ...(project === undefined ? {} : { project_id: String(project) }),
    ...(key === false ? { issue_key: false } : {}),
  })) as Static<typeof registered>
  if (input.options.json === true) return void io.out.write(`${writeJson(answer)}\n`)
  const { id } = answer.agent
  if (answer.key === undefined) return void io.err.write(`Registered "${id}", without a key of its own.\n`)
  io.err.write(`Registered "${id}". This is its key; it is shown this once and kept nowhere:\n`)
  io.out.write(`${answer.key}\n`)
}

/** Prints the live keys of an agent, one a line, none of them itself. */
export const listKeys = async ({ ask, input, io, now }: CommandContext): Promise<void> => {
  const { agent } = (await ask('GET', agentPath(input))) as Static<typeof oneAgent>
  if (input.options.json === true) return void io.out.write(`${writeJson({ keys: agent.keys })}\n`)
  if (agent.keys.length === 0) return void io.err.write(`"${agent.id}" has no key of its own.\n`)
  const width = terminalWidth(io.out)
  const rows = agent.keys.map(({ id, prefix, created_at, last_used_at }) => [
    terminalLine(id),
    `${terminalLine(prefix)}…`,
    listedTime(Date.parse(created_at), now, width !== undefined),
    last_used_at === null ? 'never' : listedTime(Date.parse(last_used_at), now, width !== undefined),
  ])
  const lines = columnLines([['key', 'begins', 'since', 'last used'], ...rows], new Set(), { width, spare: [2] })
  for (const line of lines) io.out.write(`${line}\n`)
}

/** Issues a further key; only the key, which cannot be printed again, goes to stdout. */
export const issueKey = async ({ ask, input, io }: CommandContext): Promise<void> => {
  const answer = (await ask('POST', `${agentPath(input)}/keys`)) as Static<typeof issued>
  if (input.options.json === true) return void io.out.write(`${writeJson(answer)}\n`)
  io.err.write(`Key ${answer.key_id} of "${answer.agent.id}"; it is shown this once and kept nowhere:\n`)
  io.out.write(`${answer.key}\n`)
}

/** Ends a key of an agent. */
export const revokeKey = async ({ ask, input, io }: CommandContext): Promise<void> => {
  const key = input.args[1] ?? ''
  await ask('DELETE', `${agentPath(input)}/keys/${encodeURIComponent(key)}`)
  if (input.options.json === true) io.out.write(`${writeJson({ key_id: key, revoked: true })}\n`)
  else io.out.write(`${terminalLine(key)}  revoked\n`)
}

/** Pauses or resumes an agent and prints what it is then. */
export const changeAgent = async ({ ask, input, io }: CommandContext, change: 'pause' | 'resume'): Promise<void> => {
  const answer = (await ask('POST', `${agentPath(input)}/${change}`)) as Static<typeof oneAgent>
  if (input.options.json === true) io.out.write(`${writeJson(answer)}\n`)
  else io.out.write(`${terminalLine(answer.agent.id)}  ${answer.agent.paused ? 'paused' : 'active'}\n`)
}

const agentPath = ({ args }: CommandContext['input']): string => `/api/agents/${encodeURIComponent(args[0] ?? '')}`

const rowOf = (agent: Static<typeof agentSchema>, now: number, isTerminal: boolean): readonly string[] => [
  terminalLine(agent.id),
  terminalLine(agent.name ?? ''),
  agent.paused ? 'paused' : '',
  terminalLine(agent.project_id ?? ''),
  listedTime(Date.parse(agent.created_at), now, isTerminal),
  String(agent.keys.length),
  agent.registered_by,
]
