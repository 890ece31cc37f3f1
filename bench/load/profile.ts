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

/** What took most of the main thread. */
export interface Profile {
  /** By function, what it calls left out. */
  readonly self: readonly Share[]
  /** By function of this package, with what runtime and packages do for it. */
  readonly charged: readonly Share[]
}

/** A function's share of the main thread's busy time. */
export interface Share {
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
  // The engine locks up if it has to look through the heap while it starts: about one start in twenty, without this.
  await session.current.post('HeapProfiler.collectGarbage')
  await session.current.post('Profiler.enable')
  await session.current.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.current.post('Profiler.start')
  return true
}

/** Ends sampling, writes the profile and tells the functions that took most. */
export const stopProfile = async ({ file, top }: ProfileOptions): Promise<Profile> => {
  if (session.current === undefined) throw new Error('no profile was begun')
  const { profile } = await session.current.post('Profiler.stop')
  session.current.disconnect()
  session.current = undefined
  writeFileSync(file, JSON.stringify(profile))
  return { self: shares(profile, top, itself), charged: shares(profile, top, nearestOwn) }
}

type Node = Profiler.Profile['nodes'][number]
/** The node that a sample counts for. */
type Account = (node: Node, parents: ReadonlyMap<number, Node>) => Node

/** A function's own time. */
export const itself: Account = (node) => node

/** What runtime and packages do for a function of this package counts for that function. */
export const nearestOwn: Account = (node, parents) => {
  let at: Node | undefined = node
  while (at !== undefined && !isOwn(at)) at = parents.get(at.id)
  return at ?? node
}

const isOwn = ({ callFrame: { url } }: Node): boolean => {
  const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : '..'
  return !file.startsWith('..') && !file.startsWith('node_modules')
}

/** Time by function, the largest first; idle time and the profiler's own are left out. */
export const shares = (profile: Profiler.Profile, top: number, account: Account): Share[] => {
  const { nodes, samples = [], timeDeltas = [] } = profile
  const known = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)))
  const spent = new Map<string, { name: string; at: string; us: number }>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const node = known.get(id)
    // the profiler's own commands are no work of the gateway
    if (node === undefined || unmeasured.has(node.callFrame.functionName) || node.callFrame.url === 'node:inspector')
      continue
    const { callFrame } = account(node, parents)
    const us = timeDeltas[index] ?? 0
    const at = placeOf(callFrame)
    const name = callFrame.functionName || '(anonymous)'
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

const placeOf = ({ url, lineNumber }: Node['callFrame']): string => {
  if (url === '') return ''
  const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url
  return `${file}:${lineNumber + 1}`
}
