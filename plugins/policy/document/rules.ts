import type { Detector, Registry, Rule } from 'guard-gateway/core'
import { inexactNumber, isJsonObject, type JsonObject, pointerPart } from '#lib/json'

/** Something wrong in a policy document. */
export interface Problem {
  /** JSON pointer. */
  readonly path: string
  readonly message: string
}

interface Field {
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
}

const text = (least: number, most: number): Field => ({
  expected: `a text of ${least} to ${most} characters`,
  accepts: (value) => typeof value === 'string' && value.length >= least && value.length <= most,
})
const integer = (least: number, most: number): Field => ({
  expected: `an integer from ${least} to ${most}`,
  accepts: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
})
const name = /^[\w.-]{1,64}$/

const fields: Readonly<Record<string, Field>> = {
  id: {
    expected: '1 to 64 of the characters A-Z a-z 0-9 . _ -',
    accepts: (value) => typeof value === 'string' && name.test(value),
  },
  rule_type: text(1, 64),
  threshold: integer(1, 1e15),
  window_size: integer(0, 1000),
  action: text(1, 32),
  enabled: { expected: 'true or false', accepts: (value) => typeof value === 'boolean' },
  params: { expected: 'an object', accepts: (value) => isJsonObject(value) },
  note: text(0, 1000),
}

/** Reads rules and fills in defaults; every problem is added to `problems`. */
export const readRules = (value: unknown, path: string, detectors: Registry<Detector>, problems: Problem[]): Rule[] => {
  if (!Array.isArray(value) || value.length < 1 || value.length > 64) {
    problems.push({ path, message: `must be a list of 1 to 64 rules, is ${quotedValue(value)}` })
    return []
  }
  const taken = new Set<string>()
  for (const [index, rule] of value.entries()) noteId(rule, `${path}/${index}`, taken, problems)
  return value.flatMap((rule, index) => readRule(rule, `${path}/${index}`, detectors, taken, problems) ?? [])
}

const noteId = (rule: unknown, path: string, taken: Set<string>, problems: Problem[]): void => {
  if (!isJsonObject(rule) || typeof rule.id !== 'string') return
  if (taken.has(rule.id))
    problems.push({ path: `${path}/id`, message: `"${rule.id}" is the id of an earlier rule, too` })
  taken.add(rule.id)
}

const readRule = (
  rule: unknown,
  path: string,
  detectors: Registry<Detector>,
  taken: Set<string>,
  problems: Problem[],
): Rule | undefined => {
  const before = problems.length
  if (!isJsonObject(rule)) {
    problems.push({ path, message: `must be a rule, is ${quotedValue(rule)}` })
    return undefined
  }
  checkFields(rule, path, problems)
  const defaults = detectors.get(String(rule.rule_type))?.defaults
  if (rule.rule_type === undefined) problems.push({ path: `${path}/rule_type`, message: 'is missing' })
  else if (rule.threshold === undefined && defaults === undefined) {
    const known = `there is no detector ${quotedValue(rule.rule_type)} with a default; there is ${detectors.ids().join(', ') || 'none'}`
    problems.push({ path: `${path}/threshold`, message: `is missing, and ${known}` })
  }
  if (problems.length > before) return undefined
  return {
    ...ruleOf(rule, defaults),
    id: typeof rule.id === 'string' ? rule.id : freeId(String(rule.rule_type), taken),
  }
}

const checkFields = (rule: JsonObject, path: string, problems: Problem[]): void => {
  for (const [key, value] of Object.entries(rule)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    const at = `${path}/${pointerPart(key)}`
    if (field === undefined)
      problems.push({ path: at, message: `is not a field of a rule; there is ${Object.keys(fields).join(', ')}` })
    else if (!field.accepts(value))
      problems.push({ path: at, message: `must be ${field.expected}, is ${quotedValue(value)}` })
    else if (key === 'params') noteInexact(value, at, problems)
  }
}

const noteInexact = (params: unknown, path: string, problems: Problem[]): void => {
  const inexact = inexactNumber(params)
  if (inexact !== undefined) problems.push({ path: path + inexact, message: 'is a number that cannot be kept exactly' })
}

/** Fields in the order in which rules are shown; their types are checked already. */
const ruleOf = (rule: JsonObject, defaults: Detector['defaults'] | undefined): Omit<Rule, 'id'> & { id: string } => ({
  id: '',
  rule_type: String(rule.rule_type),
  threshold: Number(rule.threshold ?? defaults?.threshold),
  window_size: Number(rule.window_size ?? defaults?.window_size ?? 0),
  action: String(rule.action ?? defaults?.action ?? 'block'),
  enabled: rule.enabled !== false,
  ...(isJsonObject(rule.params) ? { params: rule.params } : {}),
  ...(typeof rule.note === 'string' ? { note: rule.note } : {}),
})

/** The rule type, then with `-2`, `-3` …; what may not stand in an id becomes `_`. */
const freeId = (ruleType: string, taken: Set<string>): string => {
  const base = ruleType.replace(/[^\w.-]/g, '_').slice(0, 60)
  let id = base
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`
  taken.add(id)
  return id
}

/** A value, shortened for error messages. */
export const quotedValue = (value: unknown): string => {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  const spelled = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return spelled.length <= 40 ? spelled : `${spelled.slice(0, 39)}…`
}
