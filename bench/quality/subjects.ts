import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Detector, Plugin, Rule } from 'guard-gateway/core'
import { readYaml } from '#lib/yaml'
import { type ShippedPolicy, shippedPolicies, shippedRules } from '../../presets/default/policies.ts'
import { findPeers, peers } from '../peers/index.ts'
import type { Peer } from '../peers/peer.ts'
import type { Evidence } from './case.ts'
import type { Judged } from './observed.ts'

type RuleInput = Partial<Rule> & Pick<Rule, 'rule_type'>

/** A measured detector with its defaults, or a measured rule set. */
export interface Subject extends Judged {
  /** The enabled rules. */
  readonly rules: readonly RuleInput[]
}

/** All known detectors, and those of the measured subjects. */
export interface Subjects {
  readonly detectors: readonly (Detector & Plugin)[]
  readonly subjects: readonly Subject[]
  /** Loop guards of other agents, for comparison. */
  readonly peers: readonly Peer[]
}

/** The selection: detectors by id or file, rule sets by name or file, peers by id. Empty: everything. */
export interface SubjectSelection {
  readonly detectors: readonly string[]
  readonly presets: readonly string[]
  readonly peers?: readonly string[]
}

/** Finds the selected subjects. Throws a TypeError that lists the known names. */
export const findSubjects = async (wanted: SubjectSelection, cwd: string): Promise<Subjects> => {
  const shipped = await detectorsIn(
    dirname(fileURLToPath(import.meta.resolve('guard-gateway/plugins/detectors/exact-repeat'))),
  )
  const files = wanted.detectors.filter(isFile)
  const own = (await Promise.all(files.map((file) => exportedBy(resolve(cwd, file))))).flat()
  const taken = new Set(own.map(({ id }) => id))
  const detectors = [...shipped.filter(({ id }) => !taken.has(id)), ...own]
  const guards = wanted.peers ?? []
  const all = wanted.detectors.length + wanted.presets.length + guards.length === 0
  const named = wanted.detectors.filter((name) => !isFile(name)).map((id) => needed(id, detectors))
  const presets = all ? Object.keys(shippedPolicies) : wanted.presets
  return {
    detectors,
    subjects: [
      ...(all ? detectors : [...named, ...own]).map(asSubject),
      ...(await Promise.all(presets.map((preset) => presetSubject(preset, cwd)))),
    ],
    peers: all ? peers : findPeers(guards),
  }
}

const isFile = (name: string): boolean => /[./\\]/.test(name)

const detectorsIn = async (folder: string): Promise<(Detector & Plugin)[]> => {
  const code = extname(import.meta.filename)
  const files = (await readdir(folder)).filter((name) => name.endsWith(code) && !name.endsWith('.d.ts')).sort()
  // files that detectors share can be in the same folder
  return (await Promise.all(files.map((file) => detectorsOf(join(folder, file))))).flat()
}

const detectorsOf = async (file: string): Promise<(Detector & Plugin)[]> => {
  const exported: unknown[] = Object.values(await load(file))
  return exported.filter(isDetector)
}

const exportedBy = async (file: string): Promise<(Detector & Plugin)[]> => {
  const found = await detectorsOf(file)
  if (found.length === 0)
    throw new TypeError(`${file} exports no detector: make one with detector() of guard-gateway/core.`)
  return found
}

const load = async (file: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    return await import(pathToFileURL(file).href)
  } catch (cause) {
    const message = existsSync(file) ? (cause as Error).message : 'there is no such file.'
    const hint = cause instanceof SyntaxError && message.includes('outside a module') ? OLD_MODULES : ''
    throw new TypeError(`${file} cannot be loaded: ${message}${hint}`, { cause })
  }
}

const OLD_MODULES = '. Put "type": "module" into its package.json.'

const isDetector = (value: unknown): value is Detector & Plugin =>
  typeof value === 'object' && value !== null && 'apply' in value && 'code' in value && 'defaults' in value

const needed = (id: string, detectors: readonly (Detector & Plugin)[]): Detector & Plugin => {
  const found = detectors.find((one) => one.id === id)
  if (found !== undefined) return found
  throw new TypeError(`There is no detector "${id}"; there is ${detectors.map((one) => one.id).join(', ')}, or a file.`)
}

const asSubject = (detector: Detector): Subject => ({
  id: detector.id,
  kind: 'detector',
  version: detector.version,
  rule_type: detector.id,
  params: (detector.defaults.params as Subject['params'] | undefined) ?? null,
  rules: [{ rule_type: detector.id }],
  needs: needsOf(detector),
})

/** The evidence that a detector needs besides turns. */
const needsOf = (detector: Detector): Evidence[] => {
  if (detector.stream !== undefined) return ['reply text']
  if (detector.kind === 'outcome') return ['upstream errors']
  if (detector.needs === 'prices') return ['prices']
  return detector.measure !== undefined ? ['result text'] : []
}

const presetSubject = async (preset: string, cwd: string): Promise<Subject> => {
  const rules = isFile(preset) ? await rulesIn(resolve(cwd, preset)) : await shippedList(preset)
  const id = basename(preset, extname(preset))
  const enabled = (rules as RuleInput[]).filter(({ enabled }) => enabled !== false)
  return { id, kind: 'rules', version: '1', rule_type: null, params: null, rules: enabled, needs: [] }
}

const shippedList = async (preset: string): Promise<unknown> => {
  if (Object.hasOwn(shippedPolicies, preset)) return (await shippedRules()).presets[preset as ShippedPolicy]
  const known = Object.keys(shippedPolicies).join(', ')
  throw new TypeError(`There is no preset "${preset}"; there is ${known}, or a file.`)
}

const rulesIn = async (file: string): Promise<readonly unknown[]> => {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) throw new TypeError(`There is no file ${file}.`)
  const { value } = readYaml(await import('yaml'), text)
  const rules = Array.isArray(value) ? value : (value as { readonly rules?: unknown } | null)?.rules
  if (!Array.isArray(rules)) throw new TypeError(`${file} holds no list of rules.`)
  return rules
}
