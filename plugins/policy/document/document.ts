import { type Detector, GuardError, type Mode, type Registry, type Rule } from 'guard-gateway/core'
import { isJsonObject, pointerPart } from '#lib/json'
import { checkParams } from './params.ts'
import { type Problem, quotedValue, readRules } from './rules.ts'

/** A requested change of a policy; members left out stay unchanged. */
export interface PolicyChange {
  readonly mode?: Mode | null
  readonly rules?: readonly Rule[]
  readonly expected_version?: number
}

const members = ['mode', 'preset', 'rules', 'expected_version']
/** Members of answers: a document that was read may be sent back unchanged. */
const ignored = ['project_id', 'version', 'source', 'mode_in_force', 'warnings']
const MAX_PROBLEMS = 5

/** Reads a policy document, or a bare list of rules. Throws INVALID_POLICY naming each wrong field. */
export const readChange = async (
  document: unknown,
  detectors: Registry<Detector>,
  presets: Readonly<Record<string, readonly Rule[]>>,
): Promise<PolicyChange> => {
  const problems: Problem[] = []
  const bare = Array.isArray(document)
  const body = bare ? { rules: document } : document
  if (!isJsonObject(body))
    throw invalid([{ path: '', message: `must be an object or a list of rules, is ${quotedValue(body)}` }])
  checkMembers(body, problems)
  const rules =
    body.rules === undefined
      ? presetOf(body.preset, presets, problems)
      : await checkedRules(body.rules, bare ? '' : '/rules', detectors, problems)
  if (body.rules === undefined && body.preset === undefined && body.mode === undefined)
    problems.push({ path: '', message: 'needs rules, preset or mode' })
  if (problems.length > 0) throw invalid(problems)
  return {
    ...(body.mode === undefined ? {} : { mode: body.mode as Mode | null }),
    ...(rules === undefined ? {} : { rules }),
    ...(body.expected_version === undefined ? {} : { expected_version: Number(body.expected_version) }),
  }
}

const checkedRules = async (
  value: unknown,
  path: string,
  detectors: Registry<Detector>,
  problems: Problem[],
): Promise<readonly Rule[]> => {
  const before = problems.length
  const rules = readRules(value, path, detectors, problems)
  if (problems.length === before) await checkParams(rules, path, detectors, problems)
  return rules
}

/** Reads rules from options. Throws INVALID_POLICY. */
export const readRuleList = async (value: unknown, detectors: Registry<Detector>): Promise<readonly Rule[]> => {
  const problems: Problem[] = []
  const rules = await checkedRules(value, '', detectors, problems)
  if (problems.length > 0) throw invalid(problems)
  return rules
}

const checkMembers = (body: Readonly<Record<string, unknown>>, problems: Problem[]): void => {
  for (const key of Object.keys(body)) {
    if (members.includes(key) || ignored.includes(key)) continue
    problems.push({
      path: `/${pointerPart(key)}`,
      message: `is not a member of a policy; there is ${members.join(', ')}`,
    })
  }
  const { mode, rules, preset, expected_version } = body
  if (mode !== undefined && mode !== null && mode !== 'shadow' && mode !== 'enforce') {
    problems.push({ path: '/mode', message: `must be "shadow", "enforce" or null, is ${quotedValue(mode)}` })
  }
  if (rules !== undefined && preset !== undefined) {
    problems.push({ path: '/preset', message: 'cannot stand beside rules: give one of the two' })
  }
  if (expected_version !== undefined && !(Number.isSafeInteger(expected_version) && Number(expected_version) >= 0)) {
    problems.push({
      path: '/expected_version',
      message: `must be a version number, is ${quotedValue(expected_version)}`,
    })
  }
}

const presetOf = (
  name: unknown,
  presets: Readonly<Record<string, readonly Rule[]>>,
  problems: Problem[],
): readonly Rule[] | undefined => {
  if (name === undefined) return undefined
  if (typeof name === 'string' && Object.hasOwn(presets, name)) return presets[name]
  const known = Object.keys(presets).join(', ') || 'none'
  problems.push({
    path: '/preset',
    message: `must be the name of a preset, is ${quotedValue(name)}; there is ${known}`,
  })
  return undefined
}

const invalid = (problems: readonly Problem[]): GuardError => {
  const [first] = problems
  const texts = problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => `${path || 'The policy'} ${message}`)
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : ''
  return new GuardError('INVALID_POLICY', `${texts.join('; ')}${more}.`, { path: first?.path ?? '' })
}
