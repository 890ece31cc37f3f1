import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** The file of a published schema. */
export const schemaFile = (name: 'trace' | 'jsonl' | 'event'): URL =>
  new URL(`../../plugins/replay/schemas/${name}.v1.json`, import.meta.url)

/** Fails unless a value is as the published schema wants it. */
export const assertsSchema = (name: 'trace' | 'jsonl' | 'event'): ((value: unknown) => void) => {
  const validate = validators.get(name) ?? compiled(name)
  return (value) => assert.ok(validate(value), JSON.stringify(validate.errors))
}

const validators = new Map<string, ValidateFunction>()

const compiled = (name: 'trace' | 'jsonl' | 'event'): ValidateFunction => {
  const ajv = new Ajv2020({ allErrors: true, strictTypes: false, formats: { 'date-time': RFC_3339 } })
  const validate = ajv.compile(JSON.parse(readFileSync(schemaFile(name), 'utf8')))
  validators.set(name, validate)
  return validate
}
