import type { Gateway } from 'guard-gateway/core'
import { isJsonObject } from 'guard-gateway/lib/json'
import { canonicalJson } from 'guard-gateway/lib/trace'
import { MAX_FINDINGS } from '../audit/limits.ts'
import type { AuditRow } from '../audit/tables.ts'
import type { Action } from '../judge/verdict.ts'
import type { CompiledRule } from '../policy/compiled.ts'
import type { RuleDocument } from '../policy/document.ts'
import { possibleActions } from '../policy/effects.ts'
import { strictness } from '../policy/strictness.ts'

/** A policy that was in force, as far as rules of another are compared with its own. */
export interface RecordedPolicy {
  /** Each rule as one text, by its id. */
  readonly rules: ReadonlyMap<string, string>
  /** Some rule changes arguments: what is on record may be about the changed ones. */
  readonly transforms: boolean
}

/** Policies by their version, read once. */
export class RecordedPolicies {
  readonly #gateway: Gateway
  readonly #known = new Map<string, Promise<RecordedPolicy | undefined>>()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Undefined for one that is not kept. */
  of(version: string | null): Promise<RecordedPolicy | undefined> {
    if (version === null) return Promise.resolve(undefined)
    const known = this.#known.get(version) ?? this.#read(version)
    this.#known.set(version, known)
    return known
  }

  async #read(version: string): Promise<RecordedPolicy | undefined> {
    const row = await this.#gateway.storage.get('mcp_policies', version)
    if (row === undefined) return undefined
    const document: unknown = JSON.parse(row.text)
    const rules = isJsonObject(document) && Array.isArray(document.rules) ? (document.rules as RuleDocument[]) : []
    return {
      rules: new Map(rules.map((rule) => [rule.id, canonicalJson(rule)])),
      transforms: rules.some(({ action }) => action === 'transform'),
    }
  }
}

/** All that a rule may say of a call whose arguments or caller are not known: less, where the same rule has judged that call. */
export const opinionsOnRecord = (
  rule: CompiledRule,
  row: AuditRow,
  before: RecordedPolicy | undefined,
  isAddressed: boolean,
): readonly (Action | undefined)[] => {
  const possible = possibleActions(rule, isAddressed)
  const isSame = before?.transforms === false && before.rules.get(rule.id) === canonicalJson(rule.document)
  // a limit counts calls, and what was counted then says nothing of now
  if (!isSame || rule.limit !== undefined) return possible
  const told = whatItSaid(rule, row, isAddressed)
  return told === undefined ? possible : [...told]
}

/** What the record tells of a rule that was in force as it is; undefined: nothing. */
const whatItSaid = (
  { id, document, when }: CompiledRule,
  { rule_ids, findings, action }: AuditRow,
  isAddressed: boolean,
): ReadonlySet<Action | undefined> | undefined => {
  const found = (findings ?? []).filter(({ rule_id }) => rule_id === id)
  if (found.length > 0) {
    const isOdd = found.some(({ check }) => check === 'arguments' || check === 'when')
    return new Set([isOdd ? 'deny' : (document.on_violation ?? 'deny')])
  }
  // beyond so many none is kept
  if ((findings?.length ?? 0) >= MAX_FINDINGS) return undefined
  if ((when === undefined && isAddressed) || rule_ids?.includes(id) === true) return new Set([document.action])
  const said = judgedBy(action)
  const hadWon = said !== undefined && strictness(document.action) >= strictness(said)
  return new Set(hadWon ? [undefined] : [document.action, undefined])
}

const judgedBy = (action: AuditRow['action']): Action | undefined =>
  action === null || action === 'invalid' || action === 'refused' ? undefined : action
