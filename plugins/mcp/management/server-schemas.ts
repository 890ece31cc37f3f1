import type { Static } from 'typebox'
import { Type } from '#lib/json'
import { pinStates } from '../audit/enums.ts'
import { loginView } from '../login/schemas.ts'
import { bundle } from './bundle-schemas.ts'
import { count, oneOf, text, textOrNull, time, timeOrNull } from './schema-parts.ts'

/** A tool of a server, as it was listed last. */
const tool = Type.Object({
  name: text,
  fingerprint: textOrNull,
  pin: oneOf(pinStates, { description: 'How the definition compares with the one that was trusted.' }),
  difference: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description:
      'Of a new or changed definition: its lines, redacted, "- " for what was trusted, "+ " for what is new, two blanks for a line around them.',
  }),
  effect: oneOf(['allow', 'deny', 'confirm', 'depends'], {
    description: 'What the policy does to its calls, as its definition stands.',
  }),
  hidden: Type.Boolean({ description: 'The policy takes it out of the list.' }),
})

/** A server behind the proxy. Target and arguments are redacted. */
export const server = Type.Object({
  id: text,
  name: text,
  transport: text,
  target: Type.Union([Type.String(), Type.Null()], { description: 'Address, or command with its arguments.' }),
  status: oneOf(['unknown', 'ok', 'failing']),
  protocol_version: textOrNull,
  server_info: Type.Union([Type.Object({ name: text, version: textOrNull }), Type.Null()]),
  fingerprint: textOrNull,
  tools: Type.Array(tool),
  sessions: count,
  processes: Type.Union([count, Type.Null()], {
    description: 'Processes of it that run for its sessions; null where it is not started here.',
  }),
  last_seen_at: timeOrNull,
  last_error: textOrNull,
  logins: Type.Union([Type.Array(loginView), Type.Null()], {
    description: 'Logins at it, of which one serves all or each an agent; null where nobody logs in.',
  }),
})
export type ServerView = Static<typeof server>

/** The policy in force. */
const policy = Type.Object({
  file: textOrNull,
  version: text,
  mode: oneOf(['enforce', 'shadow']),
  loaded_at: time,
  error: Type.Union([Type.String(), Type.Null()], { description: 'Why the file as it stands now cannot be used.' }),
})

export const serversAnswer = Type.Object({
  servers: Type.Array(server),
  bundles: Type.Array(bundle, { description: 'Several servers at one address each.' }),
  policy: Type.Union([policy, Type.Null()]),
})
export type ServersView = Static<typeof serversAnswer>

export const serverParams = Type.Object({ id: text })
export const pinsBody = Type.Object(
  {
    tools: Type.Union([Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }), Type.Literal('all')], {
      description: 'Names of tools, or "all".',
    }),
    fingerprints: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9a-f]{16,64}$' }), {
        description:
          'What was looked at: fingerprints of definitions, or their first 16 digits and more. If a definition that would be trusted has none of them, nothing is trusted and the answer is 409.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ tools: 'all' }] },
)
export const pinsAnswer = Type.Object({
  accepted: Type.Array(Type.String(), { description: 'Tools whose definition is trusted from now on.' }),
})
