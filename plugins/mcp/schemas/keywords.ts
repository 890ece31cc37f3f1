import type { Ajv, KeywordCxt } from 'ajv'
import { canonicalJson } from 'guard-gateway/core'
import { burn, type Fuel } from './fuel.ts'

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const

/** Bounds what a hostile schema can make a validation cost: references take fuel, and a list is unique or not in one pass. */
export const boundKeywords = (ajv: Ajv, code: typeof import('ajv')._, fuel: Fuel): void => {
  const step = () => burn(fuel, 0)
  for (const keyword of REFERENCES) countCalls(ajv, keyword, step, code)
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (wanted: boolean, items: readonly unknown[]) => !wanted || areUnique(items),
  })
}

/** Referenced schemas can call one another exponentially often. */
const countCalls = (ajv: Ajv, keyword: string, step: () => void, code: typeof import('ajv')._): void => {
  const rule = ajv.RULES.all[keyword]
  if (typeof rule !== 'object' || !('code' in rule.definition)) return
  const { definition } = rule
  const generate = definition.code
  rule.definition = {
    ...definition,
    code: (cxt: KeywordCxt, type?: string) => {
      cxt.gen.code(code`${cxt.gen.scopeValue('func', { ref: step })}()`)
      generate(cxt, type)
    },
  }
}

const areUnique = (items: readonly unknown[]): boolean => new Set(items.map(canonicalJson)).size === items.length
