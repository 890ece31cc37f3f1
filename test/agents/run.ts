// Drives real coding agents from npm through a gateway that enforces the recommended rules, against a provider on
// loopback, with an empty home and no network; only the scripts that loop may be stopped:
// npm run test:agents [-- --dir <folder to install into> --only <client,…> --scripts <script,…> --ways own,run,profile --styles <style,…> --bare --record <file>]
// --bare leaves the gateway out: what an agent does not bear then is no matter of the rules.
// --styles leaves others out at the upstream: what a profile then makes its client speak.
// --record writes what requests looked like at the provider, without keys and texts.
import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Absent, Agent } from './agent.ts'
import { absent, agents } from './clients/index.ts'
import { install, isThere, placeOf } from './install.ts'
import { isIsolated, runIsolated } from './isolate.ts'
import { type Played, play } from './play.ts'
import type { RequestShape } from './request-shape.ts'
import { type Script, scripts } from './scripts.ts'
import { setStage } from './stage.ts'
import { tableOf } from './table.ts'
import type { Way } from './ways.ts'

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    only: { type: 'string' },
    scripts: { type: 'string' },
    ways: { type: 'string' },
    styles: { type: 'string' },
    bare: { type: 'boolean', default: false },
    record: { type: 'string' },
  },
})
const named = (list: string | undefined, { id }: { readonly id: string }): boolean =>
  list === undefined || list.split(',').includes(id)
const chosen = agents.filter((agent) => named(values.only, agent))

/** Every way and script that an agent is tried with. */
const playsOf = (agent: Agent): readonly (readonly [Way, Script])[] => {
  const wanted = scripts.filter((script) => named(values.scripts, script))
  if (values.bare) return wanted.filter(({ loops }) => loops === undefined).map((script) => ['bare', script])
  const few = wanted.filter(({ id }) => id === 'loop' || id === 'work')
  const ways = (['run', 'profile'] as const).filter(
    (way) => agent.has_profile === true || (agent.has_profile && way === 'profile'),
  )
  return [
    ...wanted.map((script) => ['own', script] as const),
    ...ways.flatMap((way) => few.map((script) => [way, script] as const)),
  ].filter(([way]) => named(values.ways, { id: way }))
}

/** What agents keep under the real home; none of it may change. */
const homeMarks = async (): Promise<string> =>
  (await readdir(process.env.HOME ?? '/').catch(() => []))
    .filter((name) => agents.some(({ id, command }) => name.includes(id) || name.includes(command)))
    .join()

const tell = ({ agent, way, script, faults, blocks, requests, seconds, text }: Played): void => {
  const verdict = faults.length === 0 ? 'ok  ' : 'FAIL'
  process.stdout.write(
    `${verdict}  ${agent.id} ${agent.version}  ${way}  ${script.id}  ${requests} requests, ${seconds.toFixed(0)} s\n`,
  )
  for (const fault of faults) process.stdout.write(`      ${fault}\n`)
  if (faults.length === 0) return
  if (blocks.length > 0) process.stdout.write(`      blocked by ${blocks.join(', ')}\n`)
  process.stdout.write(`${text.slice(-1500).replace(/^/gm, '      | ')}\n`)
}

/** Plays an agent on a stage of its own. */
const playOne = async (installed: string, agent: Agent): Promise<readonly Played[]> => {
  const stage = await setStage(installed, values.styles?.split(','))
  const played: Played[] = []
  try {
    for (const [way, script] of playsOf(agent)) {
      const one = await play(stage, agent, way, script)
      tell(one)
      played.push(one)
    }
  } finally {
    await stage.close()
  }
  if (values.record !== undefined) await record(values.record, agent, stage.provider.shapes)
  return played
}

const record = (file: string, { id, version }: Agent, shapes: readonly RequestShape[]): Promise<void> =>
  appendFile(file, `${JSON.stringify({ id, version, requests: shapes }, null, 1)}\n`)

const playAll = async (installed: string): Promise<boolean> => {
  const marks = await homeMarks()
  const missing: Absent[] = []
  const played: Played[] = []
  for (const agent of chosen)
    if (await isThere(placeOf(installed, agent), agent)) played.push(...(await playOne(installed, agent)))
    else missing.push({ id: agent.id, reason: `${agent.package}@${agent.version} could not be installed` })
  process.stdout.write(`\n${tableOf(played, [...missing, ...absent])}`)
  const isClean = (await homeMarks()) === marks
  if (!isClean) process.stdout.write('FAIL  something was written to the home folder\n')
  return isClean && missing.length === 0 && played.every(({ faults }) => faults.length === 0)
}

const dir = values.dir === undefined ? await mkdtemp(join(tmpdir(), 'guard-agents-npm-')) : resolve(values.dir)
if (isIsolated()) process.exitCode = (await playAll(dir)) ? 0 : 1
else {
  for (const agent of chosen) {
    const fault = await install(dir, agent)
    if (fault !== undefined) process.stdout.write(`${agent.id} could not be installed: ${fault}\n`)
  }
  const args = process.argv.slice(2)
  process.exitCode = await runIsolated([
    import.meta.filename,
    ...args,
    ...(values.dir === undefined ? ['--dir', dir] : []),
  ])
  if (values.dir === undefined) await rm(dir, { recursive: true, force: true })
}
