import { type Gateway, GuardError, type Rule } from 'guard-gateway/core'
import { periodOfParams } from 'guard-gateway/lib/budget'
import { pages } from 'guard-gateway/lib/paging'
import { auditedIn, everyProject } from 'guard-gateway/lib/principal'
import { changedIn } from 'guard-gateway/lib/session'
import { LRU } from 'tiny-lru'
import { type PolicyChange, readRuleList } from './document/document.ts'
import { type Policy, policyOf } from './policy.ts'
import type { PolicyRow } from './tables.ts'

const MAX_VERSIONS = 50
const MAX_CACHED = 10_000
const ATTEMPTS = 5

/** The policies of all projects: stored ones, and the default for any other. */
export class Policies {
  readonly #gateway: Gateway
  readonly #cache = new LRU<Policy>(MAX_CACHED)
  #rules: readonly Rule[] = []

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** `defaults` are the rules of projects without a policy of their own; one for each registered detector if absent. */
  async open(defaults: unknown): Promise<void> {
    const { detectors } = this.#gateway
    this.#rules = await readRuleList(defaults ?? detectors.ids().map((rule_type) => ({ rule_type })), detectors)
  }

  /** True if any rule of any project, enabled or not, is about usage in a period. */
  async anyPeriod(): Promise<boolean> {
    if (this.#rules.some(isPeriodic)) return true
    for await (const page of pages(this.#gateway.storage, 'policies', {}))
      if (page.some(({ rules }) => rules.some(isPeriodic))) return true
    return false
  }

  /** The policy, if it is in memory. */
  at(project: string): Policy | undefined {
    return this.#cache.get(project)
  }

  async load(project: string): Promise<Policy> {
    return this.#cache.get(project) ?? this.#keep(this.#policy(project, await this.#stored(project)))
  }

  /** Another process has changed a policy: all are read again. */
  forget(): void {
    this.#cache.clear()
  }

  /**
   * Replaces a policy and keeps the last 50 versions. Calls that were judged before end under the version that judged them.
   * Throws VERSION_CONFLICT if the version is not the one expected.
   */
  async change(project: string, change: PolicyChange): Promise<Policy> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stored = await this.#stored(project)
      const version = stored?.version ?? 0
      if (change.expected_version !== undefined && change.expected_version !== version) throw conflict(version, change)
      const current = this.#policy(project, stored)
      const next: PolicyRow = {
        project_id: project,
        version: version + 1,
        mode: change.mode === undefined ? current.mode : change.mode,
        rules: change.rules ?? current.rules,
        updated_at: this.#gateway.clock.now(),
      }
      if (!(await this.#write(next, current))) continue
      // the storage redacts notes and ids: the redacted policy is in force at once, not only after a restart
      const kept = await this.#gateway.storage.get('policy_versions', versionId(project, next.version))
      return this.#keep(this.#policy(project, kept ?? next))
    }
    throw new GuardError(
      'STORAGE_BUSY',
      `The policy of "${project}" changed ${ATTEMPTS} times while it was being written. Try again.`,
    )
  }

  #stored(project: string): Promise<PolicyRow | undefined> {
    return everyProject(() => this.#gateway.storage.get('policies', project))
  }

  #write(next: PolicyRow, { mode: mode_before }: Policy): Promise<boolean> {
    const { project_id, version, ...changes } = next
    const { mode, rules } = next
    const entry = {
      action: mode === mode_before ? 'policy.changed' : 'policy.mode_changed',
      subject: project_id,
      project_id,
      details: { version, mode, mode_before, rules: rules.length },
    }
    return this.#gateway.storage.write([
      version === 1
        ? { table: 'policies', put: next, when: 'absent', sync: true }
        : {
            table: 'policies',
            key: project_id,
            patch: { version, ...changes },
            expected: { version: version - 1 },
            sync: true,
          },
      { table: 'policy_versions', put: { id: versionId(project_id, version), ...next } },
      { table: 'policy_versions', key: versionId(project_id, version - MAX_VERSIONS), remove: true },
      ...auditedIn(this.#gateway.service('audit').get(), entry),
      ...changedIn(this.#gateway.service('cluster').get()),
    ])
  }

  #policy(project_id: string, stored: PolicyRow | undefined): Policy {
    const { detectors } = this.#gateway
    if (stored === undefined) {
      return policyOf({ project_id, version: 0, source: 'default', mode: null, rules: this.#rules }, detectors)
    }
    const { version, mode, rules } = stored
    return policyOf({ project_id, version, source: 'stored', mode, rules }, detectors)
  }

  /** A slow reader must not replace a newer version. */
  #keep(policy: Policy): Policy {
    const known = this.#cache.peek(policy.project_id)
    if (known !== undefined && known.version > policy.version) return known
    this.#cache.set(policy.project_id, policy)
    return policy
  }
}

const isPeriodic = ({ params }: Rule): boolean => periodOfParams(params) !== undefined

const versionId = (project: string, version: number): string => `${project}:${version}`

const conflict = (version: number, { expected_version }: PolicyChange): GuardError =>
  new GuardError(
    'VERSION_CONFLICT',
    `The policy is at version ${version}, not ${expected_version}. Read it again and repeat the change.`,
    { path: '/expected_version' },
  )
