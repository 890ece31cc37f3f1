import { type Gateway, GuardError, type Rule } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { periodOfParams } from '#lib/budget'
import { pages } from '#lib/paging'
import { auditedIn, everyProject } from '#lib/principal'
import { changedIn, DEFAULT_PROJECT } from '#lib/session'
import { type PolicyChange, readRuleList } from './document/document.ts'
import { type Policy, policyOf } from './policy.ts'
import type { PolicyRow } from './tables.ts'

const MAX_VERSIONS = 50
const MAX_CACHED = 10_000
const ATTEMPTS = 5

/** The policies of all projects: their own, and that of project `default` for any other. */
export class Policies {
  readonly #gateway: Gateway
  /** Null: the project has no policy of its own. */
  readonly #cache = new LRU<Policy | null>(MAX_CACHED)
  #rules: readonly Rule[] = []

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** `defaults` are the rules while project `default` has no policy of its own; one for each registered detector if absent. */
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

  /** The policy in force for a project, if it is in memory; its `project_id` says whose it is. */
  at(project: string): Policy | undefined {
    const own = this.#cache.get(project)
    return own === null ? (this.#cache.get(DEFAULT_PROJECT) ?? undefined) : own
  }

  /** The policy in force for a project. */
  async load(project: string): Promise<Policy> {
    const known = this.#cache.get(project)
    const own = known === undefined ? this.#keep(project, this.#own(project, await this.#stored(project))) : known
    return own ?? this.load(DEFAULT_PROJECT)
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
      const current = this.#own(project, stored) ?? (await this.load(DEFAULT_PROJECT))
      const next: PolicyRow = {
        project_id: project,
        version: version + 1,
        mode: change.mode === undefined ? current.mode : change.mode,
        rules: change.rules ?? current.rules,
        updated_at: this.#gateway.clock.now(),
      }
      if (!(await this.#write(next, current))) continue
      // the storage redacts notes and ids: the redacted policy is in force at once, not only after a restart
      const storedVersion = await this.#gateway.storage.get('policy_versions', versionId(project, next.version))
      return this.#keep(project, policyOf(storedVersion ?? next, this.#gateway.detectors))
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

  /** The policy that is a project's own; null if it has none. */
  #own(project_id: string, stored: PolicyRow | undefined): Policy | null {
    const { detectors } = this.#gateway
    if (stored !== undefined) return policyOf(stored, detectors)
    if (project_id !== DEFAULT_PROJECT) return null
    return policyOf({ project_id, version: 0, mode: null, rules: this.#rules }, detectors)
  }

  /** A slow reader must not replace a newer version. */
  #keep<T extends Policy | null>(project: string, own: T): Policy | T {
    const known = this.#cache.peek(project)
    if (known && known.version > (own?.version ?? 0)) return known
    this.#cache.set(project, own)
    return own
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
