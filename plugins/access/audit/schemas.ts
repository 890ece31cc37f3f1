import { Type } from '#lib/json'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const auditEntry = Type.Object({
  id: Type.String(),
  at: Type.String({ format: 'date-time' }),
  actor: Type.String({ description: 'Name of a key or a person; loopback for whoever is on this machine.' }),
  actor_kind: Type.Enum(['key', 'session', 'proxy', 'loopback'], {
    description: 'session: a browser that is logged in; proxy: a proxy in front vouched for a person.',
  }),
  key_id: textOrNull('The key that was shown or logged in with.'),
  action: Type.String({ description: 'What was done, as session.paused.' }),
  subject: textOrNull('Id of what it was done to.'),
  project_id: textOrNull('Null where it concerns no project, or several.'),
  details: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description: 'What tells more of the action: a reason, a version, a name.',
  }),
  instance: textOrNull('The process that did it, where several share the storage.'),
})

export const auditPage = Type.Object({
  entries: Type.Array(auditEntry, { description: 'Newest first.' }),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
  truncated: Type.Boolean({ description: 'The page ended early; the cursor goes on.' }),
})

export const auditQuery = Type.Object({
  actor: Type.Optional(Type.String({ description: 'By this key or person.' })),
  action: Type.Optional(Type.String()),
  project_id: Type.Optional(Type.String()),
  since: Type.Optional(Type.String({ description: 'A time, or an age such as 7d.' })),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String()),
})
