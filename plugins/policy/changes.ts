import { isDeepStrictEqual } from 'node:util'
import { isShape, listOf, type Shape, shapeOf } from 'guard-gateway/lib/json'
import { terminalLine } from 'guard-gateway/lib/text'
import type { PolicyAnswer } from './schemas.ts'

/** What a document would change of a policy, a line each; what a rule leaves out is its type's default and not told. None: it changes nothing that can be told. */
export const changesBy = (document: unknown, now: PolicyAnswer): readonly string[] => {
  const wanted = Array.isArray(document) ? { rules: document } : shapeOf(document)
  return [...modeChange(wanted, now), ...(wanted.rules === undefined ? [] : ruleChanges(listOf(wanted.rules), now))]
}

const modeChange = (wanted: Shape, now: PolicyAnswer): readonly string[] =>
  wanted.mode === undefined || wanted.mode === now.mode ? [] : [`~ mode: ${shown(now.mode)} -> ${shown(wanted.mode)}`]

const ruleChanges = (wanted: readonly unknown[], { rules }: PolicyAnswer): readonly string[] => {
  const before = new Map<unknown, Shape>(rules.map((rule) => [rule.id, { ...rule }]))
  const lines: string[] = []
  for (const rule of wanted.filter(isShape)) {
    const id = rule.id ?? rule.rule_type
    const old = before.get(id)
    before.delete(id)
    lines.push(...(old === undefined ? [`+ ${words(rule)}`] : differences(String(id), rule, old)))
  }
  return [...lines, ...[...before.values()].map((rule) => `- ${words(rule)}`)]
}

const differences = (id: string, rule: Shape, old: Shape): readonly string[] =>
  Object.entries(rule)
    .filter(([name, value]) => !isDeepStrictEqual(value, old[name]))
    .map(([name, value]) => `~ ${terminalLine(id)}: ${terminalLine(name)} ${shown(old[name])} -> ${shown(value)}`)

const words = (rule: Shape): string =>
  Object.entries(rule)
    .map(([name, value]) => `${terminalLine(name)} ${shown(value)}`)
    .join(', ')

const shown = (value: unknown): string =>
  value === undefined ? 'not set' : terminalLine(typeof value === 'string' ? value : JSON.stringify(value))
