import { Type } from '#lib/json'
import { scopes } from '#lib/principal'

const time = Type.String({ format: 'date-time' })
const timeOrNull = Type.Union([time, Type.Null()])
const scope = Type.Enum([...scopes])

const keyFields = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'First characters of the key.' }),
  scopes: Type.Array(scope, { description: 'What it is for; admin includes all.' }),
  projects: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Those it is bound to; null: all.' }),
  created_at: time,
  created_by: Type.String({ description: 'Name of whoever made it.' }),
  last_used_at: timeOrNull,
  expires_at: timeOrNull,
  revoked_at: Type.Union([time, Type.Null()], { description: 'When it was ended by hand; null: it was not.' }),
}

/** A key as the administration API gives it: never the key itself. */
export const keySchema = Type.Object(keyFields, { description: 'What is kept of it: never the key itself.' })

export const keysPage = Type.Object({ keys: Type.Array(keySchema, { description: 'Newest first.' }) })

export const keyBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Of whom or what it is: audit records call it so.',
    }),
    scopes: Type.Array(scope, { minItems: 1, uniqueItems: true, description: 'What it is for; admin includes all.' }),
    projects: Type.Optional(
      Type.Array(Type.String(), { minItems: 1, maxItems: 100, description: 'It sees these alone; all if absent.' }),
    ),
    expires_in: Type.Optional(Type.String({ description: 'As 30d or 12h; never if absent.' })),
  },
  { additionalProperties: false, examples: [{ name: 'dashboard', scopes: ['read'], projects: ['shop'] }] },
)

export const issuedKey = Type.Object({
  key: Type.String({ description: 'The key: shown this once, kept nowhere.' }),
  access_key: keySchema,
})

export const keyParams = Type.Object({ id: Type.String() })
