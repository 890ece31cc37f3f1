import type { Mode, Rule } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { newId } from '#lib/ids'
import type { FieldFault } from '#lib/page'

/** The fields of a rule that a form has, as text. */
export const ruleFields = ['id', 'rule_type', 'threshold', 'window_size', 'action', 'params', 'note'] as const
type RuleField = (typeof ruleFields)[number]

/** A rule as it is in a form, not necessarily one that can be used. */
export type RuleDraft = Readonly<Record<RuleField, string>> & { readonly enabled: boolean }

/** A policy as it is in a form. */
export interface Draft {
  /** Empty: that of the configuration. */
  readonly mode: string
  /** The version that it was made from. */
  readonly version: number
  readonly rules: readonly RuleDraft[]
}

/** A policy as a form shows it. */
export const draftOf = (mode: Mode | null, version: number, rules: readonly Rule[]): Draft => ({
  mode: mode ?? '',
  version,
  rules: rules.map(ruleDraft),
})

const ruleDraft = ({ id, rule_type, threshold, window_size, action, enabled, params, note }: Rule): RuleDraft => ({
  id,
  rule_type,
  threshold: String(threshold),
  window_size: String(window_size),
  action,
  enabled,
  params: params === undefined ? '' : JSON.stringify(params),
  note: note ?? '',
})

/** A rule that nothing is said of yet but its type. */
export const newRule = (rule_type: string): RuleDraft => ({
  id: '',
  rule_type,
  threshold: '',
  window_size: '',
  action: 'block',
  enabled: true,
  params: '',
  note: '',
})

const MAX_RULES = 64

/** What a form was sent with. */
export const readDraft = (fields: URLSearchParams): Draft => {
  const rules: RuleDraft[] = []
  for (let index = 0; index <= MAX_RULES && fields.has(`rules/${index}/rule_type`); index++) {
    const chosen = (field: string): string => (fields.get(`rules/${index}/${field}`) ?? '').replaceAll('\r\n', '\n')
    const text = (field: string): string => chosen(field).trim()
    rules.push({
      id: text('id'),
      rule_type: chosen('rule_type'),
      threshold: text('threshold'),
      window_size: text('window_size'),
      action: chosen('action'),
      enabled: fields.has(`rules/${index}/enabled`),
      params: text('params'),
      note: text('note'),
    })
  }
  const version = Number(fields.get('expected_version'))
  return { mode: fields.get('mode') ?? '', version: Number.isSafeInteger(version) ? version : 0, rules }
}

/** The rules of a form as a policy document has them; what is empty is left out, what is no number stays text. */
export const documentOf = ({ rules }: Draft, faults: FieldFault[]): readonly object[] =>
  rules.map((rule, index) => ({
    ...(rule.id === '' ? {} : { id: rule.id }),
    rule_type: rule.rule_type,
    ...numbered('threshold', rule.threshold),
    ...numbered('window_size', rule.window_size),
    ...(rule.action === '' ? {} : { action: rule.action }),
    enabled: rule.enabled,
    ...paramsOf(rule.params, index, faults),
    ...(rule.note === '' ? {} : { note: rule.note }),
  }))

const numbered = (name: string, text: string): object => {
  if (text === '') return {}
  return { [name]: /^-?\d{1,16}$/.test(text) ? Number(text) : text }
}

const paramsOf = (text: string, index: number, faults: FieldFault[]): object => {
  if (text === '') return {}
  try {
    return { params: JSON.parse(text) as unknown }
  } catch {
    faults.push({
      field: `rules/${index}/params`,
      message: `Rule ${index + 1}: params must be a JSON object such as {"result_aware": true}.`,
    })
    return {}
  }
}

/** What a second press confirms. */
export type Confirmable = 'enforce' | 'remove'

export const confirmedIn = (fields: URLSearchParams): Confirmable | undefined =>
  (['enforce', 'remove'] as const).find((one) => one === fields.get('confirmed'))

/** What is in a form that was sent and is not saved; `step` is what was asked for last. */
export interface UnsavedDraft {
  readonly project_id: string
  readonly draft: Draft
  readonly step: 'changed' | 'tried' | Confirmable
}

const MAX_DRAFTS = 50

/** Drafts of policies by an id that an address carries, so that reloading a page sends nothing again; the oldest goes first, and all with the process. */
export class Drafts {
  readonly #drafts = new LRU<UnsavedDraft>(MAX_DRAFTS)

  /** Keeps a draft, and gives its id. `now`: milliseconds since 1970. */
  keep(unsaved: UnsavedDraft, now: number): string {
    const id = newId('draft_', now)
    this.#drafts.set(id, unsaved)
    return id
  }

  /** The draft of this id, if it is kept and one of this project. */
  of(project_id: string, id: string): UnsavedDraft | undefined {
    const unsaved = this.#drafts.peek(id)
    return unsaved?.project_id === project_id ? unsaved : undefined
  }
}
