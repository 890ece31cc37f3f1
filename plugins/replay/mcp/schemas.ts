import type { JsonObject } from '#lib/json'
import type { ObjectSchema } from './tool.ts'

export const text = (description: string) => ({ type: 'string', description })
export const number = (description: string) => ({ type: 'integer', minimum: 0, description })
export const choice = (names: readonly string[], description: string) => ({
  type: 'string',
  enum: [...names],
  description,
})
export const list = (description: string, items: JsonObject = { type: 'object' }) => ({
  type: 'array',
  items,
  description,
})
export const textOrNull = (description: string) => ({ type: ['string', 'null'], description })
export const numberOrNull = (description: string) => ({ type: ['number', 'null'], description })

/** Arguments: no others are taken. */
export const input = (properties: JsonObject, required: readonly string[] = []): ObjectSchema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
})

/** Members of an answer. */
export const output = (properties: JsonObject): ObjectSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

export const cursor = text('Of the answer before: goes on after it, with the same other arguments.')
export const next_cursor = textOrNull('Give it as cursor for what comes next; null at the end.')

/** Filters of runs. */
export const runFilters = {
  project_id: text('Of this project alone.'),
  session_id: text('Of this session alone, as list_sessions and runs name it.'),
  agent: text('Of the agent with this id or name.'),
  since: text('Begun since: an age such as 24h, today, yesterday, or an RFC 3339 time.'),
}
