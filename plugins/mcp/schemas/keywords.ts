import type { Ajv, KeywordCxt } from 'ajv'
import { canonicalJson } from 'guard-gateway/lib/trace'
import { burn, type Fuel } from './fuel.ts'
import { namesWeight, sizeWeight, weightOf } from './weight.ts'

/** Units of fuel that an evaluation takes: by what the keyword holds, or by the value it is asked about and what each part of it takes. */
type Cost =
  | { readonly held: (held: unknown) => number }
  | { readonly value: (value: unknown, each: number) => number; readonly each?: (held: unknown) => number }

const count = (parts: unknown): number =>
  typeof parts === 'object' && parts !== null ? (Array.isArray(parts) ? parts : Object.keys(parts)).length : 1

const perBranch: Cost = { held: (held) => 1 + count(held) / 2 }
const perPart: Cost = { held: (held) => count(held) / 64 }
const perSchema: Cost = { held: weightOf }
const perElement: Cost = { value: (value, each) => count(value) * (1 / 4 + each), each: weightOf }
const perMember: Cost = { value: (value, each) => count(value) * (1 + each), each: weightOf }
const perName: Cost = { held: (held) => namesWeight(count(held)) }
const perCharacter: Cost = { value: (value) => String(value).length / 128 }

/** What hostile schemas can make costly: references that call one another, branches that all fail, lists walked for every part of a schema. */
const COSTS: Readonly<Record<string, Cost>> = {
  $ref: { held: () => 1 },
  $dynamicRef: { held: () => 4 },
  $recursiveRef: { held: () => 4 },
  anyOf: perBranch,
  oneOf: perBranch,
  not: perBranch,
  if: perBranch,
  allOf: perSchema,
  properties: perPart,
  items: perElement,
  additionalItems: perElement,
  prefixItems: perSchema,
  contains: perMember,
  unevaluatedItems: perElement,
  additionalProperties: perMember,
  propertyNames: perMember,
  patternProperties: perMember,
  unevaluatedProperties: perMember,
  maxLength: perCharacter,
  minLength: perCharacter,
  maxProperties: { value: count },
  minProperties: { value: count },
  required: perName,
  const: { held: sizeWeight },
}

/** Bounds what a hostile schema can make a validation cost. */
export const boundKeywords = (ajv: Ajv, code: typeof import('ajv')._, fuel: Fuel): void => {
  for (const [keyword, cost] of Object.entries(COSTS)) charge(ajv, keyword, cost, code, fuel)
  const isKnown = ajv.getKeyword('dependentRequired') !== false
  for (const keyword of ['uniqueItems', 'enum', 'dependentRequired']) ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (wanted: boolean, items: readonly unknown[]) => !wanted || areUnique(items, fuel),
  })
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    error: { message: 'must be equal to one of the allowed values' },
    compile: (allowed: readonly unknown[]) => oneOf(allowed, fuel),
  })
  // draft-07 has it as a part of `dependencies`
  if (!isKnown) return
  ajv.addKeyword({
    keyword: 'dependentRequired',
    type: 'object',
    schemaType: 'object',
    error: { message: 'must have the properties that others of its properties require' },
    validate: (needed: Readonly<Record<string, readonly string[]>>, members: object) =>
      hasNeeded(needed, members, fuel),
  })
}

const charge = (ajv: Ajv, keyword: string, cost: Cost, code: typeof import('ajv')._, fuel: Fuel): void => {
  const rule = ajv.RULES.all[keyword]
  if (typeof rule !== 'object' || !('code' in rule.definition)) return
  const { definition } = rule
  const generate = definition.code
  const step =
    'held' in cost
      ? (units: number) => burn(fuel, units)
      : (each: number, value: unknown) => burn(fuel, cost.value(value, each))
  rule.definition = {
    ...definition,
    code: (cxt: KeywordCxt, type?: string) => {
      const spend = cxt.gen.scopeValue('func', { ref: step })
      const units = 'held' in cost ? cost.held(cxt.schema) : (cost.each?.(cxt.schema) ?? 0)
      if (!('held' in cost)) cxt.gen.code(code`${spend}(${units}, ${cxt.data})`)
      else if (units > 0) cxt.gen.code(code`${spend}(${units})`)
      generate(cxt, type)
    },
  }
}

/** The canonical text of a value, paid for by its length. */
const textOf = (value: unknown, fuel: Fuel): string => {
  const text = canonicalJson(value)
  burn(fuel, 2 + text.length / 64)
  return text
}

const areUnique = (items: readonly unknown[], fuel: Fuel): boolean =>
  new Set(items.map((item) => textOf(item, fuel))).size === items.length

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Looks a value up in one step, however many are allowed. */
const oneOf = (allowed: readonly unknown[], fuel: Fuel): ((value: unknown) => boolean) => {
  const scalars = new Set(allowed.filter((value) => !isContainer(value)))
  const containers = new Set(allowed.filter(isContainer).map(canonicalJson))
  return (value) =>
    isContainer(value) ? containers.size > 0 && containers.has(textOf(value, fuel)) : scalars.has(value)
}

const hasNeeded = (needed: Readonly<Record<string, readonly string[]>>, members: object, fuel: Fuel): boolean =>
  Object.entries(needed).every(([name, others]) => {
    burn(fuel, namesWeight(others.length))
    return !Object.hasOwn(members, name) || others.every((other) => Object.hasOwn(members, other))
  })
