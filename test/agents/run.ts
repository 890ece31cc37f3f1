// Drives real coding agents from npm through the gateway, against a provider on loopback, with an empty home and no network:
// npm run test:agents [-- --dir <folder to install into> --only <client id>]
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Agent, agents } from './agents.ts'
import { install } from './install.ts'
import { isIsolated, runIsolated } from './isolate.ts'
import { LAST_WORDS, type Story } from './provider.ts'
import { type Ended, guard, PROVIDER_KEY, type Stage, setStage } from './stage.ts'

type Way = 'run' | 'profile'

const { values } = parseArgs({ options: { dir: { type: 'string' }, only: { type: 'string' } } })
const chosen = agents.filter(({ id }) => values.only === undefined || id === values.only)

/** The command line that a user would type, from what `guard setup` says or with `guard run`. */
const commandOf = async (stage: Stage, agent: Agent, way: Way): Promise<readonly string[]> => {
  if (way === 'run') {
    const command = agent.id === 'claude-code' ? 'claude' : agent.id
    return [...guard, 'run', '--model', agent.model, '--', command, ...agent.args]
  }
  const { text } = await stage.run([...guard, 'setup', agent.id, '--model', agent.model, '--json'])
  const { clients } = JSON.parse(text) as { clients: { state: string; use: string[] }[] }
  const lines = clients[0]?.use ?? []
  return ['sh', '-ec', `mkdir -p "$HOME/.codex"; ${lines.join('; ')} "$@"`, 'sh', ...agent.args]
}

/** What is wrong with how a story ended; empty if nothing. */
const faultsOf = async (stage: Stage, story: Story, { code, text }: Ended, before: Counts): Promise<string[]> => {
  const now = await countsOf(stage)
  const [flagged, blocked] = [now.flagged - before.flagged, now.blocked - before.blocked]
  const faults: string[] = []
  const expect = (holds: boolean, what: string) => void (holds || faults.push(what))
  if (story === 'loop') {
    expect(blocked === 1, `${blocked} requests were blocked, not 1`)
    expect(stage.provider.asked === 3, `the provider was asked ${stage.provider.asked} times, not 3`)
    expect(/Guard blocked this request/.test(text), 'the message is not shown')
  } else {
    expect(code === 0, `it ended with ${code}`)
    expect(flagged === 0 && blocked === 0, `${flagged} flags, ${blocked} blocks`)
    expect(text.includes(LAST_WORDS), 'the last answer is not shown')
  }
  for (const shown of stage.provider.authorizations)
    expect(shown.includes(PROVIDER_KEY), 'the provider was shown another key than its own')
  return faults
}

interface Counts {
  readonly flagged: number
  readonly blocked: number
}

const countsOf = async (stage: Stage): Promise<Counts> => {
  const sessions = await stage.sessions()
  const sum = (name: 'flagged' | 'blocked') => sessions.reduce((total, session) => total + session[name], 0)
  return { flagged: sum('flagged'), blocked: sum('blocked') }
}

const play = async (stage: Stage, agent: Agent, way: Way, story: Story): Promise<boolean> => {
  stage.provider.tell(story)
  const before = await countsOf(stage)
  const ended = await stage.run(await commandOf(stage, agent, way), agent)
  const faults = await faultsOf(stage, story, ended, before)
  process.stdout.write(`${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${agent.id} ${agent.version}  ${way}  ${story}\n`)
  for (const fault of faults) process.stdout.write(`      ${fault}\n`)
  if (faults.length > 0) process.stdout.write(`${ended.text.slice(-3000).replace(/^/gm, '      | ')}\n`)
  return faults.length === 0
}

/** What agents keep under the real home; none of it may change. */
const homeMarks = async (): Promise<string> =>
  (await readdir(process.env.HOME ?? '/').catch(() => [])).filter((name) => /claude|codex|opencode/i.test(name)).join()

const playAll = async (installed: string): Promise<boolean> => {
  const marks = await homeMarks()
  const stage = await setStage(installed)
  let good = true
  try {
    for (const agent of chosen)
      for (const way of ['run', 'profile'] as const)
        for (const story of ['loop', 'work'] as const) good = (await play(stage, agent, way, story)) && good
  } finally {
    await stage.close()
  }
  if ((await homeMarks()) === marks) return good
  process.stdout.write('FAIL  something was written to the home folder\n')
  return false
}

const dir = values.dir === undefined ? await mkdtemp(join(tmpdir(), 'guard-agents-npm-')) : resolve(values.dir)
if (isIsolated()) process.exitCode = (await playAll(dir)) ? 0 : 1
else {
  await install(dir, chosen)
  const only = values.only === undefined ? [] : ['--only', values.only]
  process.exitCode = await runIsolated([import.meta.filename, '--dir', dir, ...only])
  if (values.dir === undefined) await rm(dir, { recursive: true, force: true })
}
