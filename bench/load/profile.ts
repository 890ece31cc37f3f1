import { writeFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface ProfileOptions {
  /** Path of the profile, for the developer tools of a browser. */
  readonly file: string
  /** Maximum number of reported functions. */
  readonly top: number
}

/** The functions with the most time on the main thread. */
export interface Profile {
  /** Self time by function. */
  readonly self: readonly Share[]
  /** Time by function of this package, including the runtime and packages that it calls. */
  readonly charged: readonly Share[]
}

/** Share of a function in the busy time of the main thread. */
export interface Share {
  readonly name: string
  /** File and line, relative to the package. Empty for native code. */
  readonly at: string
  readonly percent: number
}

const root = join(import.meta.dirname, '../..')
const unmeasured = new Set(['(idle)', '(root)'])

const session: { current: Session | undefined } = { current: undefined }

/** Starts sampling the main thread of this process. */
export const startProfile = async (): Promise<true> => {
  session.current = new Session()
  session.current.connect()
  // Without this, the engine deadlocks in about one of twenty starts, because it scans the heap.
  await session.current.post('HeapProfiler.collectGarbage')
  await session.current.post('Profiler.enable')
  await session.current.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.current.post('Profiler.start')
  return true
}

/** Stops sampling, writes the profile and returns the functions with the most time. */
export const stopProfile = async ({ file, top }: ProfileOptions): Promise<Profile> => {
  if (session.current === undefined) throw new Error('no profile was begun')
  const { profile } = await session.current.post('Profiler.stop')
  session.current.disconnect()
  session.current = undefined
  writeFileSync(file, JSON.stringify(profile))
  return { self: shares(profile, top, itself), charged: shares(profile, top, nearestOwn) }
}

type Node = Profiler.Profile['nodes'][number]
/** The node that a sample belongs to. */
type Account = (node: Node, parents: ReadonlyMap<number, Node>) => Node

/** Self time of a function. */
export const itself: Account = (node) => node

/** The function of this package that a native or package frame belongs to. */
export const nearestOwn: Account = (node, parents) => {
  let at: Node | undefined = node
  while (at !== undefined && !isOwn(at)) at = parents.get(at.id)
  return at ?? node
}

const isOwn = ({ callFrame: { url } }: Node): boolean => {
  const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : '..'
  return !file.startsWith('..') && !file.startsWith('node_modules')
}

/** Time by function, largest first, without idle time and the profiler itself. */
export const shares = (profile: Profiler.Profile, top: number, account: Account): Share[] => {
  const { nodes, samples = [], timeDeltas = [] } = profile
  const known = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)))
  const spent = new Map<string, { name: string; at: string; us: number }>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const node = known.get(id)
    // commands of the profiler are no work of the gateway
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
