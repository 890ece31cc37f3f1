import { pointerKeys } from 'guard-gateway/lib/json'
import type { Segments } from '../actions/changes.ts'
import type { ChangeDocument, RuleDocument } from './document.ts'

/** The argument keys that a rule's checks, condition and changes name. */
export const namedArguments = (rule: RuleDocument): readonly Segments[] => [
  ...(rule.checks ?? []).flatMap((check) => Object.values(check).flatMap(pointersIn)).map(pointerKeys),
  ...(rule.transform?.arguments ?? []).flatMap(pointersOf).map(pointerKeys),
  ...(rule.only ?? []).map((name) => [name]),
  ...(rule.when?.arguments === undefined ? [] : schemaKeys(rule.when.arguments, [])),
]

/** Checks name arguments in their option `args`. */
const pointersIn = (options: unknown): readonly string[] => {
  const args = typeof options === 'object' && options !== null ? (options as { args?: unknown }).args : undefined
  return Array.isArray(args) ? args.filter((one) => typeof one === 'string') : []
}

const pointersOf = ({ remove, set, clamp, redact }: ChangeDocument): readonly string[] => [
  ...(remove === undefined ? [] : [remove]),
  ...Object.keys(set ?? {}),
  ...Object.keys(clamp ?? {}),
  ...(redact === undefined ? [] : [redact.pointer]),
]

/** Keywords whose schemas are about the value itself, also those that a reference may lead to. */
const same = (part: unknown, at: Segments): readonly Segments[] => schemaKeys(part, at)
const anyPart = (part: unknown, at: Segments): readonly Segments[] => schemaKeys(part, [...at, '*'])
const childKeys = (part: unknown, at: Segments): readonly Segments[] =>
  members(part).flatMap(([, inner]) => schemaKeys(inner, at))

type Keys = (part: unknown, at: Segments) => readonly Segments[]

const keywords: ReadonlyMap<string, Keys> = new Map<string, Keys>([
  ['required', (part, at) => namesIn(part).map((name) => [...at, name])],
  ['dependentRequired', (part, at) => dependents(part).map((name) => [...at, name])],
  ['properties', (part, at) => members(part).flatMap(([name, inner]) => below(name, inner, at))],
  ['dependentSchemas', (part, at) => members(part).flatMap(([name, inner]) => [[...at, name], ...same(inner, at)])],
  ...['$defs', 'definitions'].map((name) => [name, childKeys] as const),
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'].map((name) => [name, same] as const),
  ...['items', 'prefixItems', 'contains', 'additionalProperties', 'unevaluatedProperties'].map(
    (name) => [name, anyPart] as const,
  ),
])

/** The keys that a schema names, each at its place; after a reference they are taken to be where it refers from the top. */
const schemaKeys = (schema: unknown, at: Segments): readonly Segments[] => {
  if (Array.isArray(schema)) return schema.flatMap((part) => schemaKeys(part, at))
  return members(schema).flatMap(([keyword, part]) => keywords.get(keyword)?.(part, at) ?? [])
}

const below = (name: string, inner: unknown, at: Segments): readonly Segments[] => {
  const here = [...at, name]
  return [here, ...schemaKeys(inner, here)]
}

const members = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []

const dependents = (value: unknown): readonly string[] =>
  members(value).flatMap(([name, needed]) => [name, ...namesIn(needed)])
