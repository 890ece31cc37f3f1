import { basename, resolve } from 'node:path'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { StoredLimits } from '../actions/stored-limits.ts'
import { PolicyFile } from './file.ts'
import { type LoadedPolicy, type LoadOptions, loadPolicy } from './load.ts'
import { makePolicy, type Policy } from './policy.ts'

export type { Effect } from './effects.ts'
export type { Validate } from './judge.ts'
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
      put(await loadPolicy(gateway, { text }, options), basename(file))
    return PolicyFile.open(file, { read, limits, now: gateway.clock.now, fault: options.fault })
  }
  const source = options.policy === undefined ? { value: ASK_FOR_EVERYTHING, checked: true } : { value: options.policy }
  const policy = put(await loadPolicy(gateway, source, options), 'policy')
  return fixed(policy, gateway.clock.now(), (session_id) => limits.endSession(session_id))
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
