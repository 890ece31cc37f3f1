import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Agent } from './agent.ts'
import type { Counts } from './gateway.ts'
import { PROVIDER_KEY } from './gateway.ts'
import type { Ended } from './process.ts'
import { LAST_WORDS } from './provider.ts'
import type { Script } from './scripts.ts'
import type { Stage } from './stage.ts'
import { enter, type Way } from './ways.ts'

/** How long an agent may take; one that is blocked must end long before. */
const LIMIT_MS = 180_000

/** How a script went with an agent. */
export interface Played {
  readonly agent: Agent
  readonly way: Way
  readonly script: Script
  readonly faults: readonly string[]
  /** Rules that blocked, each with its requests. */
  readonly blocks: readonly string[]
  readonly requests: number
  readonly seconds: number
  readonly text: string
}

/** Lets an agent work on a script, and looks at how that went. */
export const play = async (stage: Stage, agent: Agent, way: Way, script: Script): Promise<Played> => {
  const before = await stage.gateway.counts()
  const [room, words] = await enter(stage, agent, way, `Do what the notes say (${script.id}, ${way}), then stop.`)
  stage.provider.begin(script, agent.tools, room.project)
  const begun = performance.now()
  const ended = await room.run(words, LIMIT_MS)
  const seconds = (performance.now() - begun) / 1000
  const now = await stage.gateway.counts()
  const blocked = [...now.sessions].filter((session) => !before.sessions.has(session))
  const blocks = (await Promise.all(blocked.map((session) => stage.gateway.reasons(session)))).flat()
  const faults = faultsOf(stage, agent, way, script, ended, {
    ...now,
    requests: now.requests - before.requests,
    blocked: now.blocked - before.blocked,
    count: now.count - before.count,
  })
  if ((await readdir(room.tmp)).some((name) => name.startsWith('guard-run_'))) faults.push('files of the run are left')
  if (blocks.length === 0) faults.push(...(await missingIn(room.project, script)), ...pollFaults(stage, agent, script))
  return { agent, way, script, faults, blocks, requests: stage.provider.requests, seconds, text: ended.text }
}

/** Whether the polls of a script found the job running. */
const pollFaults = ({ provider }: Stage, { tools }: Agent, { steps }: Script): string[] => {
  const polls = steps.filter(({ act }) => act === 'poll').length
  const running = provider.said.match(tools.running)?.length ?? 0
  return running >= polls ? [] : [`${running} of ${polls} polls found the job running`]
}

/** What a script should have left in a project and did not. */
const missingIn = async (project: string, { leaves = [] }: Script): Promise<string[]> => {
  const faults: string[] = []
  for (const [path, text] of leaves) {
    const file = join(project, path)
    const isThere = text === undefined ? existsSync(file) : (await readFile(file, 'utf8')).includes(text)
    if (!isThere) faults.push(text === undefined ? `${path} was not made` : `"${text}" does not stand in ${path}`)
  }
  return faults
}

/** What is wrong with how a script went; empty if nothing. */
const faultsOf = (
  stage: Stage,
  agent: Agent,
  way: Way,
  script: Script,
  { code, text }: Ended,
  spent: Counts,
): string[] => {
  const { provider } = stage
  const faults: string[] = []
  const expect = (holds: boolean, what: string) => void (holds || faults.push(what))
  expect(code !== null, 'it did not end by itself')
  if (script.loops !== undefined) {
    expect(
      provider.asked <= script.loops,
      `the provider was asked ${provider.asked} times, not ${script.loops} at most`,
    )
    if (agent.stops_itself !== true || spent.blocked > 0) {
      expect(spent.blocked === 1, `${spent.blocked} requests were blocked, not 1`)
      expect(/Guard blocked this request/.test(text), 'the message is not shown')
    }
  } else {
    expect(code === 0, `it ended with ${code}`)
    expect(spent.blocked === 0, `${spent.blocked} requests were blocked`)
    expect(provider.isThrough, `the provider was asked ${provider.asked} times, and the script has more steps`)
    expect(text.includes(LAST_WORDS), 'the last answer is not shown')
  }
  const { requests: admitted } = spent
  if (way !== 'bare')
    expect(admitted === provider.requests, `${admitted} requests admitted, ${provider.requests} forwarded`)
  if (way === 'run' || way === 'profile') expect(spent.count === 1, `it was ${spent.count} sessions, not 1`)
  if (agent.uses_websocket === true) expect(provider.sockets > 0, 'it opened no WebSocket')
  for (const shown of provider.keys)
    expect(shown.includes(PROVIDER_KEY), 'the provider was shown another key than its own')
  return faults
}
