import type { Gateway, Mode, Rule } from 'guard-gateway/core'
import type { FieldFault } from '#lib/page'
import { checkParams } from '../document/params.ts'
import { type Problem, readRules } from '../document/rules.ts'
import { type Draft, documentOf, ruleFields } from './draft.ts'

/** A form's policy, ready to be stored, or what is wrong with it, a fault for each field. */
export type Read =
  | { readonly mode: Mode | null; readonly rules: readonly Rule[] }
  | { readonly faults: readonly FieldFault[] }

/** Reads what is in a form as the interface would read its document. */
export const readPolicy = async ({ detectors }: Gateway, draft: Draft): Promise<Read> => {
  const faults: FieldFault[] = []
  const document = documentOf(draft, faults)
  const { mode } = draft
  if (mode !== '' && mode !== 'shadow' && mode !== 'enforce')
    faults.push({ field: 'mode', message: 'Mode must be shadow, enforce, or that of the configuration.' })
  const problems: Problem[] = []
  const rules = readRules(document, '/rules', detectors, problems)
  if (problems.length === 0) await checkParams(rules, '/rules', detectors, problems)
  faults.push(...problems.map(faultOf))
  if (faults.length > 0) return { faults }
  return { mode: mode === 'shadow' || mode === 'enforce' ? mode : null, rules }
}

/** A problem at the field that shows it: what lies within params belongs to them. */
const faultOf = ({ path, message }: Problem): FieldFault => {
  const [rules = '', index, name = '', ...within] = path.slice(1).split('/')
  const field = ruleFields.find((known) => known === name) ?? (name === '' ? undefined : 'rule_type')
  if (index === undefined) return { field: '', message: `A policy's rules ${message}.` }
  const words = within.length === 0 ? labels[name] : `${labels[name]} ${within.join('/')}`
  return {
    field: `${rules}/${index}/${field ?? 'id'}`,
    message: `Rule ${Number(index) + 1}: ${words ?? name} ${message}.`,
  }
}

const labels: Readonly<Record<string, string>> = {
  id: 'id',
  rule_type: 'type',
  threshold: 'threshold',
  window_size: 'window',
  action: 'action',
  params: 'params',
  note: 'note',
}
