import type { Static } from 'typebox'
import { Type } from '#lib/json'
import { kinds } from '../bundle/kinds.ts'
import { count, oneOf, text, textOrNull } from './schema-parts.ts'

const member = Type.Object({
  id: text,
  prefix: Type.String({ description: 'What its names begin with in the bundle.' }),
  status: oneOf(['ok', 'missing', 'unknown'], { description: 'missing: an open session does without it.' }),
  reason: textOrNull,
})

const collision = Type.Object({
  kind: oneOf(kinds, { description: 'What has the name.' }),
  name: text,
  servers: Type.Array(text),
  text: Type.String({ description: 'What is not served, and the way out.' }),
})

/** Several servers behind one address. */
export const bundle = Type.Object({
  id: text,
  path: Type.String({ description: 'Where clients reach it.' }),
  servers: Type.Array(member),
  collisions: Type.Array(collision, { description: 'Names that two of its servers have, as they were listed last.' }),
  sessions: count,
})
export type BundleView = Static<typeof bundle>
