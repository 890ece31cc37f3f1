import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'

const validate = new Ajv2020({ allErrors: true }).compile(
  JSON.parse(readFileSync(new URL('./event-v1.json', import.meta.url), 'utf8')),
)

/** Fails unless the value is an event as its readers rely on. */
export const assertEventV1 = (value: unknown): void => assert.ok(validate(value), JSON.stringify(validate.errors))
