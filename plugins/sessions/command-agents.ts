import { columnLines, terminalLine, terminalWidth, writeJson } from 'guard-gateway/core'
import type { Static } from 'typebox'
import { type Asked, filtered, printPage } from './asked.ts'
import type { agentSchema, agentsPage, oneAgent, registered } from './schemas.ts'

const filters = { project: 'project_id', paused: 'paused', limit: 'limit', cursor: 'cursor' }
const head = ['agent', 'name', 'project', 'keys', 'registered by', 'since', '']
/** By whom it was registered, name, project, since when. */
const spare = [4, 1, 2, 5]

/** Prints a page of agents, one a line. */
export const listAgents = async (asked: Asked): Promise<void> => {
  const page = (await asked.ask('GET', filtered('/api/agents', asked.input, filters))) as Static<typeof agentsPage>
  const lines = ({ agents }: typeof page) =>
    agents.length === 0
      ? []
      : columnLines([head, ...agents.map(rowOf)], new Set([3]), { width: terminalWidth(asked.io.out), spare })
  printPage(page, asked, lines, 'There are no such agents.')
}

/** Registers an agent; its key, which nobody can print again, is all that goes to stdout. */
export const addAgent = async ({ ask, input, io }: Asked): Promise<void> => {
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

/** Pauses or resumes an agent and prints what it is then. */
export const changeAgent = async ({ ask, input, io }: Asked, change: 'pause' | 'resume'): Promise<void> => {
  const path = `/api/agents/${encodeURIComponent(input.args[0] ?? '')}/${change}`
  const answer = (await ask('POST', path)) as Static<typeof oneAgent>
  if (input.options.json === true) io.out.write(`${writeJson(answer)}\n`)
  else io.out.write(`${terminalLine(answer.agent.id)}  ${answer.agent.paused ? 'paused' : 'active'}\n`)
}

const rowOf = (agent: Static<typeof agentSchema>): readonly string[] => [
  terminalLine(agent.id),
  terminalLine(agent.name ?? ''),
  terminalLine(agent.project_id ?? ''),
  String(agent.keys.length),
  agent.registered_by,
  agent.created_at.slice(0, 10),
  agent.paused ? 'paused' : '',
]
