import { type Change, type Gateway, GuardError, type Rule } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { periodOfParams } from '#lib/budget'
import { pages } from '#lib/paging'
import { type AuditEntry, auditedIn, everyProject } from '#lib/principal'
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
  /** How many changes of policies this process knows of. */
  #changes = 0

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
    return (known === undefined ? await this.#read(project) : known) ?? this.load(DEFAULT_PROJECT)
  }

  /** The policy that a project follows without one of its own. */
  async inherited(project: string): Promise<Policy> {
    return this.#own(project, undefined) ?? this.load(DEFAULT_PROJECT)
  }

  /** Another process has changed a policy: all are read again. */
  forget(): void {
    this.#changes++
    this.#cache.clear()
  }

  /**
   * Replaces a policy and keeps the last 50 versions. Calls that were judged before end under the version that judged them.
   * Throws VERSION_CONFLICT if the version is not the one expected.
   */
  async change(project: string, change: PolicyChange): Promise<Policy> {
    const next = await this.#written(project, change.expected_version, async (stored) => {
      const current = this.#own(project, stored) ?? (await this.inherited(project))
      const row: PolicyRow = {
        project_id: project,
        version: (stored?.version ?? (await this.#newest(project))) + 1,
        mode: change.mode === undefined ? current.mode : change.mode,
        rules: change.rules ?? current.rules,
        updated_at: this.#gateway.clock.now(),
      }
      const { project_id, ...columns } = row
      const { version, mode, rules } = columns
      const changes: readonly Change[] = [
        stored === undefined
          ? { table: 'policies', put: row, when: 'absent', sync: true }
          : { table: 'policies', key: project_id, patch: columns, expected: { version: stored.version }, sync: true },
        { table: 'policy_versions', put: { id: versionId(project, version), ...row }, when: 'absent' },
        { table: 'policy_versions', key: versionId(project, version - MAX_VERSIONS), remove: true },
      ]
      const action = mode === current.mode ? 'policy.changed' : 'policy.mode_changed'
      const details = { version, mode, mode_before: current.mode, rules: rules.length }
      return { row, changes, entry: { action, details } }
    })
    // the storage redacts notes and ids
    const storedVersion = await this.#gateway.storage.get('policy_versions', versionId(project, next.version))
    return policyOf(storedVersion ?? next, this.#gateway.detectors)
  }

  /**
   * Removes the policy that is a project's own and keeps its versions; a later one gets a higher version. Gives the policy that the
   * project follows now. Throws VERSION_CONFLICT if the version is not the one expected, NOT_FOUND if there is none.
   */
  async remove(project: string, expected_version?: number): Promise<Policy> {
    await this.#written(project, expected_version, async (stored) => {
      if (stored === undefined) throw new GuardError('NOT_FOUND', `Project "${project}" has no policy of its own.`)
      const { version, mode: mode_before, rules } = stored
      const { mode } = await this.inherited(project)
      const changes: readonly Change[] = [
        { table: 'policies', key: project, patch: { version }, expected: { version } },
        { table: 'policies', key: project, remove: true, sync: true },
      ]
      const details = { version, mode, mode_before, rules: rules.length }
      return { row: stored, changes, entry: { action: 'policy.removed', details } }
    })
    return this.load(project)
  }

  /** Writes what `made` makes of the stored policy, again if another change was faster, and reads the policy into memory. */
  async #written(
    project_id: string,
    expected: number | undefined,
    made: (stored: PolicyRow | undefined) => Promise<{ row: PolicyRow; changes: readonly Change[]; entry: AuditEntry }>,
  ): Promise<PolicyRow> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stored = await this.#stored(project_id)
      const version = stored?.version ?? 0
      if (expected !== undefined && expected !== version) throw conflict(version, expected)
      const { row, changes, entry } = await made(stored)
      const audited = auditedIn(this.#gateway.service('audit').get(), { ...entry, subject: project_id, project_id })
      const told = changedIn(this.#gateway.service('cluster').get())
      if (!(await this.#gateway.storage.write([...changes, ...audited, ...told]))) continue
      this.#changes++
      await this.#read(project_id).catch((error: unknown) => {
        this.forget()
        throw error
      })
      return row
    }
    throw new GuardError(
      'STORAGE_BUSY',
      `The policy of "${project_id}" changed ${ATTEMPTS} times while it was being written. Try again.`,
    )
  }

  #stored(project: string): Promise<PolicyRow | undefined> {
    return everyProject(() => this.#gateway.storage.get('policies', project))
  }

  /** The highest version that a project ever had; 0: none. */
  async #newest(project_id: string): Promise<number> {
    const { rows } = await this.#gateway.storage.find('policy_versions', { where: { project_id }, limit: MAX_VERSIONS })
    return Math.max(0, ...rows.map(({ version }) => version))
  }

  /** The policy that is a project's own; null if it has none. */
  #own(project_id: string, stored: PolicyRow | undefined): Policy | null {
    const { detectors } = this.#gateway
    if (stored !== undefined) return policyOf(stored, detectors)
    if (project_id !== DEFAULT_PROJECT) return null
    return policyOf({ project_id, version: 0, mode: null, rules: this.#rules }, detectors)
  }

  /** Reads a policy into memory, and again if one was changed meanwhile: a slow reader must not bring back an older one. */
  async #read(project: string): Promise<Policy | null> {
    for (;;) {
      const changes = this.#changes
      const own = this.#own(project, await this.#stored(project))
      if (changes !== this.#changes) continue
      this.#cache.set(project, own)
      return own
    }
  }
}

const isPeriodic = ({ params }: Rule): boolean => periodOfParams(params) !== undefined

const versionId = (project: string, version: number): string => `${project}:${version}`

const conflict = (version: number, expected_version: number): GuardError =>
  new GuardError(
    'VERSION_CONFLICT',
    `The policy is at version ${version}, not ${expected_version}. Read it again and repeat the change.`,
    { path: '/expected_version' },
  )
