// Lets coding agents from npm work on short scripts against a provider on loopback, with an empty home and no network,
// and keeps the session files that they write: npx node --conditions=guard-source test/agents/record-sessions.ts
// [--dir <folder to install into> --only <client,…> --raw <folder>]
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Agent } from './agent.ts'
import { claudeCode } from './clients/claude-code.ts'
import { codex } from './clients/codex.ts'
import { gemini } from './clients/gemini.ts'
import { install } from './install.ts'
import { isIsolated, runIsolated } from './isolate.ts'
import { Numbering, normalised } from './normalise-session.ts'
import type { Script, Step } from './scripts.ts'
import { setStage } from './stage.ts'
import { enter } from './ways.ts'

const LIMIT_MS = 120_000

/** An agent, and where in its home it keeps sessions. */
interface Recorded {
  readonly agent: Agent
  readonly folder: string
  readonly ending: string
  readonly scripts: readonly Script[]
}

const read: Step = { act: 'read', file: 'notes.txt' }
const check: Step = { act: 'shell', command: 'sh check.sh' }
const failing: Step = { act: 'shell', command: 'ls /not-there' }
const edit: Step = { act: 'edit', file: 'notes.txt', from: 'alpha', to: 'alpha, changed' }

const work: Script = { id: 'work', steps: [read, failing, edit, check] }
const loop: Script = { id: 'loop', steps: Array.from({ length: 8 }, () => failing) }
const delegate: Script = {
  id: 'delegate',
  steps: [{ act: 'delegate', task: 'Read notes.txt and say how long it is.' }, read, failing, { act: 'words' }, check],
}

const recorded: readonly Recorded[] = [
  { agent: claudeCode, folder: '.claude/projects', ending: '.jsonl', scripts: [work, loop, delegate] },
  { agent: codex, folder: '.codex/sessions', ending: '.jsonl', scripts: [work, loop] },
  { agent: gemini, folder: '.gemini/tmp', ending: '.jsonl', scripts: [work] },
]

const { values } = parseArgs({
  options: { dir: { type: 'string' }, only: { type: 'string' }, raw: { type: 'string' } },
})
const chosen = recorded.filter(({ agent }) => values.only === undefined || values.only.split(',').includes(agent.id))
const data = join(import.meta.dirname, '../data/session-files')

const filesIn = async (folder: string, ending: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true }).catch(() => [])).filter((name) => name.endsWith(ending)).sort()

let runs = 0

const record = async (installed: string, { agent, folder, ending, scripts }: Recorded): Promise<void> => {
  const stage = await setStage(installed)
  try {
    stage.provider.cached = 400
    for (const script of scripts) {
      const [room, words] = await enter(stage, agent, 'bare', 'Do what the notes say, then stop.')
      stage.provider.begin(script, agent.tools, room.project)
      const { code, text } = await room.run(words, LIMIT_MS)
      const from = join(room.home, folder)
      const names = await filesIn(from, ending)
      process.stdout.write(`${agent.id} ${script.id}: ended with ${code}, ${names.join(', ') || 'no file'}\n`)
      if (code !== 0 || names.length === 0) process.stdout.write(`${text.slice(-1500)}\n`)
      const numbering = new Numbering(++runs)
      for (const name of names) {
        const whole = await readFile(join(from, name), 'utf8')
        if (values.raw !== undefined) await keep(join(resolve(values.raw), agent.id, script.id, name), whole)
        const { path, content } = normalised(name, whole, numbering, room)
        await keep(join(data, agent.id, script.id, path), content)
      }
    }
  } finally {
    await stage.close()
  }
}

const keep = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

const dir = values.dir === undefined ? await mkdtemp(join(tmpdir(), 'guard-sessions-npm-')) : resolve(values.dir)
if (isIsolated()) for (const one of chosen) await record(dir, one)
else {
  for (const { agent } of chosen) {
    const fault = await install(dir, agent)
    if (fault !== undefined) process.stdout.write(`${agent.id} could not be installed: ${fault}\n`)
  }
  const place = values.dir === undefined ? ['--dir', dir] : []
  process.exitCode = await runIsolated([import.meta.filename, ...process.argv.slice(2), ...place])
  if (values.dir === undefined) await rm(dir, { recursive: true, force: true })
}
