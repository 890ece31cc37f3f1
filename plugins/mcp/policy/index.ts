import { type Stats, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { type Change, type Gateway, GuardError } from 'guard-gateway/core'
import { withFileLocation } from '#lib/errors'
import { sha256 } from '#lib/ids'
import { KeyedQueue } from '#lib/keyed-queue'
import {
  type Exceeded,
  type Limits,
  type LimitUse,
  MemoryLimits,
  waitFor,
  withCall,
  within,
} from '../actions/limits.ts'
import type { LimitRow } from '../actions/tables.ts'
import { type LoadedPolicy, type LoadOptions, loadPolicy } from './load.ts'
import { makePolicy, type Policy } from './policy.ts'

export type { Effect } from './effects.ts'
export type { JudgedTool } from './judge.ts'
export type { Policy } from './policy.ts'

/** What holds where servers are configured and no policy is. */
const ASK_FOR_EVERYTHING = { version: 1, default: 'confirm', rules: [] } as const

/** What is in force and where it came from. */
export interface PolicyState {
  /** Absolute path; null for a policy that did not come from a file. */
  readonly file: string | null
  readonly version: string
  readonly mode: 'enforce' | 'shadow'
  /** Milliseconds since 1970. */
  readonly loaded_at: number
  /** Why the file as it is now cannot be used, a line for each fault; null while it is in force. */
  readonly error: string | null
}

/** The policy in force, read again when its file changes. */
export interface Policies {
  /** The policy by which a call arriving now is judged; a promise while a changed file is read. Never rejects. */
  current(): Policy | Promise<Policy>
  state(): PolicyState
  /** Tells of each reload: `previous` equals `current` where the file was refused. The function returned ends that. */
  onChange(listener: PolicyListener): () => void
  /** Forgets what was counted against limits of a session. */
  endSession(session_id: string): void
}

export interface PolicyChange {
  readonly kind: 'policy.changed' | 'policy.rejected'
  readonly previous: Policy
  readonly current: Policy
  readonly state: PolicyState
}
export type PolicyListener = (change: PolicyChange) => void

export interface PolicyOptions extends LoadOptions {
  /** Path of a policy file; relative ones are taken from the working directory. */
  readonly file?: string | undefined
  /** A policy as data, in place of a file. Without either, every call needs an approval. */
  readonly policy?: unknown
  readonly fault: (error: unknown, where: string) => void
}

/** Reads the policy and puts it into force. Throws GuardError INVALID_POLICY, a line for each fault, where it cannot be used. */
export const openPolicies = async (gateway: Gateway, options: PolicyOptions): Promise<Policies> => {
  const limits = new StoredLimits(gateway)
  const put = ({ policy, ...loaded }: LoadedPolicy, name: string): Policy => {
    if (policy === undefined || !loaded.valid) throw new GuardError('INVALID_POLICY', faultText(loaded, name))
    return makePolicy(policy, limits, gateway.redact)
  }
  const { file: path } = options
  if (path !== undefined) {
    const file = resolve(path)
    const read = async (text: Buffer): Promise<Policy> =>
      put(await loadPolicy(gateway, { text }, options).catch(notReadAt(basename(file))), basename(file))
    return PolicyFile.open(file, { read, limits, now: gateway.clock.now, fault: options.fault })
  }
  const source = options.policy === undefined ? { value: ASK_FOR_EVERYTHING, checked: true } : { value: options.policy }
  const policy = put(await loadPolicy(gateway, source, options), 'policy')
  return fixed(policy, gateway.clock.now(), (session_id) => limits.endSession(session_id))
}

const notReadAt =
  (file: string) =>
  (error: unknown): never => {
    throw error instanceof GuardError ? new GuardError(error.entry, withFileLocation(file, error)) : error
  }

const fixed = (policy: Policy, loaded_at: number, endSession: Policies['endSession']): Policies => ({
  current: () => policy,
  state: () => ({ file: null, version: policy.version, mode: policy.mode, loaded_at, error: null }),
  onChange: () => () => undefined,
  endSession,
})

const MAX_REPORTED = 20

/** `policy.yml:12:5: rules/2: unknown key "tool"; did you mean "tools"?`, a line for each fault or failed test. */
const faultText = ({ errors, tests }: Pick<LoadedPolicy, 'errors' | 'tests'>, name: string): string => {
  const faults = errors.map(({ line, column, path, message }) => {
    const place = line === null ? name : `${name}:${line}:${column}`
    return `${place}: ${path.length <= 1 ? '' : `${path.slice(1)}: `}${message}`
  })
  const failed = tests
    .filter(({ pass }) => !pass)
    .map(
      ({ name: test, expected, actual, rule }) =>
        `${name}: test ${test}: expected ${expected}, got ${actual} (rule ${rule})`,
    )
  const description = [...faults, ...failed]
  const more = description.length > MAX_REPORTED ? [`${name}: and ${description.length - MAX_REPORTED} more`] : []
  return [...description.slice(0, MAX_REPORTED), ...more].join('\n')
}

/** Races lost to other processes before a call is refused. */
const TRIES = 5
/** Each new count removes more than itself, so that those that are over become fewer. */
const FORGOTTEN_AT_ONCE = 4
/** The wait that a refused call reports then. */
const RETRY_MS = 1000

interface LimitState {
  readonly use: LimitUse
  readonly id: string
  readonly row: LimitRow | undefined
  readonly times: readonly number[]
}

/** Limits of sessions in memory, all others in table `mcp_limits`, which processes share. */
export class StoredLimits implements Limits {
  readonly #gateway: Gateway
  readonly #sessions: MemoryLimits
  readonly #queues = new KeyedQueue()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#sessions = new MemoryLimits(() => Math.floor(gateway.clock.tick()))
  }

  async exceeded(uses: readonly LimitUse[]): Promise<readonly Exceeded[]> {
    const own = await this.#sessions.exceeded(uses.filter(isOwn))
    const at = this.#gateway.clock.now()
    const shared = await Promise.all(uses.filter(isShared).map((use) => this.#read(use, at)))
    return [...own, ...shared.flatMap((read) => full(read, at))]
  }

  async take(uses: readonly LimitUse[]): Promise<Exceeded | undefined> {
    const own = uses.filter(isOwn)
    const shared = uses.filter(isShared)
    // One at a time in this process, so that races are lost to other processes alone.
    return this.#queues.run('', async () => {
      const [first] = await this.#sessions.exceeded(own)
      return first ?? (await this.#takeShared(shared)) ?? this.#sessions.take(own)
    })
  }

  endSession(session_id: string): void {
    this.#sessions.endSession(session_id)
  }

  async #takeShared(uses: readonly LimitUse[]): Promise<Exceeded | undefined> {
    const [use] = uses
    if (use === undefined) return undefined
    for (let tried = 0; tried < TRIES; tried++) {
      const at = this.#gateway.clock.now()
      const read = await Promise.all(uses.map((use) => this.#read(use, at)))
      const [first] = read.flatMap((one) => full(one, at))
      if (first !== undefined) return first
      if (!(await this.#gateway.storage.write(read.map((one) => countedCall(one, at))))) continue
      if (read.some(({ row }) => row === undefined)) await this.#forgetOver(at)
      return undefined
    }
    return { use, wait_ms: RETRY_MS }
  }

  /** Removes some counts that are over: callers may come under ever new names. */
  async #forgetOver(at: number): Promise<void> {
    const { storage } = this.#gateway
    const { rows } = await storage.find('mcp_limits', { where: { until: { lt: at } }, limit: FORGOTTEN_AT_ONCE })
    for (const { id, version } of rows)
      await storage.write([
        { table: 'mcp_limits', key: id, patch: { version }, expected: { version } },
        { table: 'mcp_limits', key: id, remove: true },
      ])
  }

  async #read(use: LimitUse, at: number): Promise<LimitState> {
    const id = sha256(JSON.stringify([use.rule_id, use.kind, use.key]))
    const row = await this.#gateway.storage.get('mcp_limits', id)
    return { use, id, row, times: within(row?.times ?? [], use, at) }
  }
}

const isShared = ({ kind }: LimitUse): boolean => kind !== 'session'
const isOwn = (use: LimitUse): boolean => !isShared(use)

const full = ({ use, times }: LimitState, at: number): readonly Exceeded[] => {
  const wait_ms = waitFor(times, use, at)
  return wait_ms === 0 ? [] : [{ use, wait_ms }]
}

const countedCall = ({ use, id, row, times }: LimitState, at: number): Change => {
  const next = withCall(times, at)
  const until = (next.at(-1) ?? at) + use.per_ms
  if (row === undefined) return { table: 'mcp_limits', put: { id, version: 1, times: next, until }, when: 'absent' }
  const { version } = row
  return { table: 'mcp_limits', key: id, patch: { version: version + 1, times: next, until }, expected: { version } }
}

/** How a policy file is read and what goes along. */
interface FileUsers {
  /** Throws GuardError INVALID_POLICY for a text that cannot be used. */
  readonly read: (text: Buffer) => Promise<Policy>
  readonly limits: Limits
  readonly now: () => number
  readonly fault: (error: unknown, where: string) => void
}

/** Tells one content of a file from another without reading it; undefined: the file is not there. Times as doubles, finer than file systems keep them. */
type Print = Pick<Stats, 'mtimeMs' | 'ctimeMs' | 'size' | 'ino'> | undefined

/** The file's stats now; a file that cannot be read counts as absent. */
const statOf = (file: string): Print => {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const isSame = (one: Print, other: Print): boolean =>
  one?.mtimeMs === other?.mtimeMs &&
  one?.ctimeMs === other?.ctimeMs &&
  one?.size === other?.size &&
  one?.ino === other?.ino

/** Keeps the policy of a file in force: looks before each call whether the file changed, and keeps the last good one. */
class PolicyFile implements Policies {
  readonly #file: string
  readonly #use: FileUsers
  readonly #listeners = new Set<PolicyListener>()
  #policy: Policy
  #print: Print
  #loadedAt: number
  #error: string | null = null
  #loading: Promise<Policy> | undefined
  /** The file may be right, and is read again for the next call. */
  #isUnread = false

  private constructor(file: string, use: FileUsers, policy: Policy, print: Print) {
    this.#file = file
    this.#use = use
    this.#policy = policy
    this.#print = print
    this.#loadedAt = use.now()
  }

  /** Throws GuardError INVALID_POLICY where the file is missing or cannot be used. */
  static async open(file: string, use: FileUsers): Promise<PolicyFile> {
    const { content, print } = await wholeContent(file, statOf(file))
    return new PolicyFile(file, use, await use.read(content), print)
  }

  current(): Policy | Promise<Policy> {
    if (this.#loading === undefined) {
      const print = statOf(this.#file)
      if (isSame(print, this.#print) && !this.#isUnread) return this.#policy
      this.#isUnread = false
      this.#loading = this.#load(print).finally(() => {
        this.#loading = undefined
      })
    }
    // What arrives while an older content is read is judged by the newer one.
    return this.#loading.then(() => (this.#isUnread ? this.#policy : this.current()))
  }

  state(): PolicyState {
    const { version, mode } = this.#policy
    return { file: this.#file, version, mode, loaded_at: this.#loadedAt, error: this.#error }
  }

  onChange(listener: PolicyListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  endSession(session_id: string): void {
    this.#use.limits.endSession(session_id)
  }

  async #load(seen: Print): Promise<Policy> {
    const previous = this.#policy
    this.#print = seen
    try {
      const { content, print } = await wholeContent(this.#file, seen)
      this.#print = print
      this.#policy = await this.#use.read(content)
      this.#loadedAt = this.#use.now()
      this.#error = null
      this.#tell({ kind: 'policy.changed', previous, current: this.#policy, state: this.state() })
    } catch (error) {
      this.#isUnread = error instanceof GuardError && error.code === 'PARSER_UNAVAILABLE'
      this.#error = error instanceof Error ? error.message : String(error)
      this.#use.fault(error, 'mcp policy')
      this.#tell({ kind: 'policy.rejected', previous, current: previous, state: this.state() })
    }
    return this.#policy
  }

  #tell(change: PolicyChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#use.fault(error, 'mcp policy listener')
      }
    }
  }
}

/** How often a file is read again because it changed meanwhile. */
const READS = 5

/** The content and its stats, which were the same before and after the read. */
const wholeContent = async (
  file: string,
  seen: Print,
): Promise<{ readonly content: Buffer; readonly print: Print }> => {
  let before = seen
  for (let reads = 1; ; reads++) {
    const content = await contentOf(file)
    const print = statOf(file)
    if (isSame(print, before) || reads === READS) return { content, print: before }
    before = print
  }
}

const contentOf = async (file: string): Promise<Buffer> => {
  try {
    return await readFile(file)
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const detail = `${basename(file)}: ${missing ? 'does not exist' : 'cannot be read'} (${file})`
    throw new GuardError('INVALID_POLICY', detail, { cause })
  }
}
