import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject, jsonObjectOf, listOf } from 'guard-gateway/lib/json'
import { terminalLine } from 'guard-gateway/lib/text'
import type { PolicyAnswer } from '../schemas.ts'

/** The changes that a document makes to a policy, a line each; fields that a rule leaves out are not compared. Empty: no change is visible. */
export const policyDiff = (document: unknown, now: PolicyAnswer): readonly string[] => {
  const requested = Array.isArray(document) ? { rules: document } : jsonObjectOf(document)
  return [
    ...modeChange(requested, now),
    ...(requested.rules === undefined ? [] : ruleChanges(listOf(requested.rules), now)),
  ]
}

const modeChange = (requested: JsonObject, now: PolicyAnswer): readonly string[] =>
  requested.mode === undefined || requested.mode === now.mode
    ? []
    : [`~ mode: ${valueText(now.mode)} -> ${valueText(requested.mode)}`]

const ruleChanges = (requested: readonly unknown[], { rules }: PolicyAnswer): readonly string[] => {
  const before = new Map<unknown, JsonObject>(rules.map((rule) => [rule.id, { ...rule }]))
  const lines: string[] = []
  for (const rule of requested.filter(isJsonObject)) {
    const id = rule.id ?? rule.rule_type
    const old = before.get(id)
    before.delete(id)
    lines.push(...(old === undefined ? [`+ ${words(rule)}`] : differences(String(id), rule, old)))
  }
  return [...lines, ...[...before.values()].map((rule) => `- ${words(rule)}`)]
}

const differences = (id: string, rule: JsonObject, old: JsonObject): readonly string[] =>
  Object.entries(rule)
    .filter(([name, value]) => !isDeepStrictEqual(value, old[name]))
    .map(
      ([name, value]) => `~ ${terminalLine(id)}: ${terminalLine(name)} ${valueText(old[name])} -> ${valueText(value)}`,
    )

const words = (rule: JsonObject): string =>
  Object.entries(rule)
    .map(([name, value]) => `${terminalLine(name)} ${valueText(value)}`)
    .join(', ')

const valueText = (value: unknown): string =>
  value === undefined ? 'not set' : terminalLine(typeof value === 'string' ? value : JSON.stringify(value))
