import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { GuardError, type Plugin } from 'guard-gateway/core'
import { type BudgetLeft, byRemainingShare, remainingShare, remainingText } from '#lib/budget'
import { type Command, commandKind, type Io } from '#lib/command'
import { costText, countText } from '#lib/format'
import { newKey, sha256 } from '#lib/ids'
import { isJsonObject, readJson } from '#lib/json'
import { terminalLine } from '#lib/text'
import { keyFile } from './agent-key.ts'
import { countRuns } from './agent-runs.ts'
import { clientErrors } from './error-codes.ts'
import type { ClientsOptions } from './options.ts'
import { runAgent } from './run.ts'
import { setup } from './setup.ts'
import { status } from './status.ts'
import type { SessionUsage } from './summary.ts'

export type { AskJson as Ask } from '#lib/command'
export type { ClientsOptions } from './options.ts'
export type { Profile } from './profile.ts'
export { profileOf, profiles } from './profiles/index.ts'
export { upstreamLines } from './status.ts'

/** Only the status line, because its client starts it after each change. */
export const statuslineAlone = (options: Pick<ClientsOptions, 'address'>): Plugin => ({
  name: 'clients/statusline',
  apply: (gateway) => gateway.registry(commandKind).add(statusline(options)),
})

/** Writes connection profiles and starts agents through the gateway. */
export const clients = (options: ClientsOptions): Plugin => ({
  name: 'clients',
  apply: (gateway) => {
    gateway.errorCodes.add(...Object.values(clientErrors))
    for (const command of [setup, printKey, makeApproverKey, statusline])
      gateway.registry(commandKind).add(command(options))
    gateway.registry(commandKind).add(status(options, () => gateway.clock.now()))
    gateway.registry(commandKind).add(runAgent(gateway, options))
    countRuns(gateway)
  },
})

/** `guard key approver`: prints a new approver key and its hash for the configuration. */
const makeApproverKey = (): Command => ({
  id: 'key approver',
  summary: 'make a key that approving, resuming and changing rules then take; it is printed this once',
  example: ['guard key approver', 'guard key approver --json'],
  async run({ options }, io) {
    const key = newKey('guard_')
    const approver_key = `sha256:${sha256(key)}`
    if (options.json === true) io.out.write(`${JSON.stringify({ key, approver_key })}\n`)
    else {
      io.out.write(`${key}\n`)
      io.err.write(`Keep it where no agent reads it. Put this into the configuration file:\n`)
      io.err.write(`mcp: { approver_key: "${approver_key}" }\n`)
      io.err.write(
        `A gateway that runs without one asks for it from its next request on; in place of another key it takes a restart.\n`,
      )
    }
    return 0
  },
})

/** `guard key print`: prints the key of a client, for profiles that must not contain it. */
const printKey = (options: ClientsOptions): Command => ({
  id: 'key print',
  summary: 'print the key that clients show, for use in scripts and profiles',
  options: {
    '--agent <id>': 'the key that setup stored for this agent',
    '--dir <folder>': 'the profiles folder; profiles if absent',
  },
  example: ['guard key print', 'GUARD_GATEWAY_KEY="$(guard key print)" my-agent'],
  async run(input, io) {
    const { agent, dir = 'profiles' } = input.options
    const key = typeof agent === 'string' ? await agentKey(resolve(io.cwd, String(dir)), agent) : options.gateway_key
    io.out.write(input.options.json === true ? `${JSON.stringify({ key })}\n` : `${key}\n`)
    return 0
  },
})

const agentKey = async (folder: string, agent: string): Promise<string> => {
  const file = keyFile(folder, agent)
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (cause) {
    throw new GuardError(
      'USAGE',
      `There is no key of agent "${agent}" in ${file}. Run "guard setup --agent ${agent}" first.`,
      { cause },
    )
  }
}

/** The first request of a process takes 250 ms on a busy machine. */
const TIMEOUT_MS = 1_000
const EVENT_LIMIT = 50

/** `guard statusline`: one line about the session on standard input. It prints nothing if the gateway is slow. */
const statusline = ({ address }: Pick<ClientsOptions, 'address'>): Command => ({
  id: 'statusline',
  summary: 'one line about a session, for the status line of Claude Code',
  unconfigured: 'memory',
  example: ['guard statusline < session.json', 'echo \'{"session_id":"…"}\' | guard statusline'],
  async run(_input, io) {
    const line = await lineFor(address, io).catch(() => '')
    io.out.write(`${line}\n`)
    return 0
  },
})

interface SessionStatus {
  readonly session: SessionUsage & { readonly project_id: string }
  readonly budgets?: readonly BudgetLeft[]
}

/** Newest first. Rows without a decision have no mode and no reason. */
interface Decisions {
  readonly events: readonly { readonly attributes: { readonly mode?: string; readonly reason_code?: string | null } }[]
}

const lineFor = async (address: string, io: Io): Promise<string> => {
  const input = readJson(io.in === undefined ? '' : await text(io.in))
  const id = isJsonObject(input) && typeof input.session_id === 'string' ? input.session_id : ''
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const headers: Record<string, string> = {}
  if (io.env.GUARD_ACCESS_KEY) headers['x-guard-key'] = io.env.GUARD_ACCESS_KEY
  const read = async <T>(path: string): Promise<T | undefined> => {
    const answer = await fetch(`${address}/api/${path}`, { signal, headers })
    return answer.ok ? ((await answer.json()) as T) : undefined
  }
  const status = await read<SessionStatus>(`sessions/by-external/${encodeURIComponent(id)}`)
  if (status === undefined) return 'guard: no request yet'
  const { session, budgets = [] } = status
  const decisions = await read<Decisions>(`sessions/${encodeURIComponent(session.id)}/events?limit=${EVENT_LIMIT}`)
  return terminalLine(`guard: ${partsOf(session, decisions?.events ?? [], budgets).join(', ')}`)
}

const partsOf = (
  { paused, requests, total_tokens, cost_micro, flagged, blocked }: SessionUsage,
  events: Decisions['events'],
  budgets: readonly BudgetLeft[],
): readonly string[] => {
  const attributes = events.map((event) => event.attributes)
  const mode = attributes.find((one) => one.mode !== undefined)?.mode
  const last = attributes.find(({ reason_code }) => typeof reason_code === 'string')?.reason_code
  const tokens = budgets.filter(({ scope, unit }) => scope === 'session' && unit === 'tokens')
  const budget = tokens.length === 0 ? '' : ` of ${countText(Math.min(...tokens.map(({ limit }) => limit)))}`
  const [tightest] = byRemainingShare(budgets.filter(isVisible))
  return [
    ...(paused ? ['PAUSED'] : []),
    ...(mode === undefined ? [] : [mode]),
    `${requests} ${requests === 1 ? 'request' : 'requests'}`,
    `${countText(total_tokens)}${budget} tokens`,
    `cost ${costText(cost_micro)}`,
    ...(tightest === undefined ? [] : [remainingText(tightest)]),
    ...(flagged > 0 ? [`${flagged} flagged`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(last === undefined ? [] : [`last ${last}`]),
  ]
}

const LOW_SHARE = 0.2

/** Budgets with a period always show; budgets of the session show when little remains. */
const isVisible = (budget: BudgetLeft): boolean => budget.per !== null || remainingShare(budget) <= LOW_SHARE
