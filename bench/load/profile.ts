import { writeFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface ProfileOptions {
  /** Where the profile is written, to be opened in a browser's tools. */
  readonly file: string
  /** How many functions are told. */
  readonly top: number
}

/** A function's own share of the main thread's busy time. */
export interface SelfTime {
  readonly name: string
  /** File and line, relative to the package; empty for what is native. */
  readonly at: string
  readonly percent: number
}

const root = join(import.meta.dirname, '../..')
const unmeasured = new Set(['(idle)', '(root)'])

const session: { current: Session | undefined } = { current: undefined }

/** Begins to sample this process's main thread. */
export const startProfile = async (): Promise<true> => {
  session.current = new Session()
  session.current.connect()
  await session.current.post('Profiler.enable')
  await session.current.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.current.post('Profiler.start')
  return true
}

/** Ends sampling, writes the profile and tells the functions that took most. */
export const stopProfile = async ({ file, top }: ProfileOptions): Promise<readonly SelfTime[]> => {
  if (session.current === undefined) throw new Error('no profile was begun')
  const { profile } = await session.current.post('Profiler.stop')
  session.current.disconnect()
  session.current = undefined
  writeFileSync(file, JSON.stringify(profile))
  return selfTimes(profile, top)
}

/** Own time by function, the largest first; idle time and the profiler's own are left out. */
export const selfTimes = ({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, top: number): SelfTime[] => {
  const frames = new Map(nodes.map((node) => [node.id, node.callFrame]))
  const spent = new Map<string, { name: string; at: string; us: number }>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id)
    // the profiler's own commands are no work of the gateway
    if (frame === undefined || unmeasured.has(frame.functionName) || frame.url === 'node:inspector') continue
    const us = timeDeltas[index] ?? 0
    const at = placeOf(frame)
    const name = frame.functionName || '(anonymous)'
    const entry = spent.get(`${name} ${at}`) ?? { name, at, us: 0 }
    entry.us += us
    total += us
    spent.set(`${name} ${at}`, entry)
  }
  return [...spent.values()]
    .sort((a, b) => b.us - a.us)
    .slice(0, top)
    .map(({ name, at, us }) => ({ name, at, percent: (us / total) * 100 }))
}

const placeOf = ({ url, lineNumber }: Profiler.Profile['nodes'][number]['callFrame']): string => {
  if (url === '') return ''
  const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url
  return `${file}:${lineNumber + 1}`
}
