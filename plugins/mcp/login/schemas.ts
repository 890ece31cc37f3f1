import type { Static } from 'typebox'
import { Type } from '#lib/json'
import { oneOf, text, timeOrNull } from '../management/schema-parts.ts'
import type { LoginState } from './login-states.ts'

/** A login at a server. Tokens are never shown. */
export const loginView = Type.Object({
  agent_id: Type.Union([Type.String(), Type.Null()], {
    description: 'The agent it is of; null: it serves all who use the server.',
  }),
  state: oneOf(['ok', 'needed', 'ended', 'wants_more'], {
    description:
      'needed: nobody has logged in; ended: somebody must again; wants_more: it works, and the server has asked for more rights.',
  }),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it ended.' }),
  issuer: Type.Union([Type.String(), Type.Null()], { description: 'The authorization server.' }),
  scopes: Type.Array(Type.String(), { description: 'What it allows.' }),
  wanted: Type.Array(Type.String(), { description: 'What the server has asked for beyond that.' }),
  expires_at: timeOrNull,
  renewable: Type.Boolean({ description: 'It is renewed before it expires.' }),
})
export type LoginView = Static<typeof loginView>

export const viewOf = ({ server_id: _server, scopes, wanted, expires_at, ...state }: LoginState): LoginView => ({
  ...state,
  scopes: [...scopes],
  wanted: [...wanted],
  expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
})

export const loginParams = Type.Object({ id: text })
const agent_id = Type.Optional(
  Type.String({
    pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$',
    description: 'Where each agent has a login of its own: which.',
  }),
)
export const loginQuery = Type.Object({ agent_id })
export const loginAnswer = Type.Object({
  login: loginView,
  redirect_uri: Type.Union([Type.String(), Type.Null()], {
    description: 'Where the browser is to be sent back to; without a port it may be any. Null: there is no preference.',
  }),
})
export type LoginAnswer = Static<typeof loginAnswer>

export const beginBody = Type.Object(
  {
    redirect_uri: Type.String({
      maxLength: 2_048,
      description: 'Address on the machine of the browser that somebody listens at, or reads from the browser.',
    }),
    agent_id,
  },
  { additionalProperties: false, examples: [{ redirect_uri: 'http://127.0.0.1:49152/callback' }] },
)
export const beginAnswer = Type.Object({
  authorization_url: Type.String({ description: 'Address to open in a browser within 15 minutes.' }),
})
export type BeginAnswer = Static<typeof beginAnswer>

export const finishBody = Type.Object(
  {
    redirected: Type.String({
      maxLength: 16_384,
      description: 'The whole address that the browser was sent back to, or its query.',
    }),
  },
  { additionalProperties: false, examples: [{ redirected: 'http://127.0.0.1:49152/callback?code=…&state=…' }] },
)
export const finishAnswer = Type.Object({ login: loginView })
export type FinishAnswer = Static<typeof finishAnswer>

export const logoutBody = Type.Object({ agent_id }, { additionalProperties: false, examples: [{}] })
export const logoutAnswer = Type.Object({
  ended: Type.Boolean({ description: 'There was a login.' }),
  revoked: Type.Boolean({ description: 'The authorization server has ended it, too.' }),
})
export type LogoutAnswer = Static<typeof logoutAnswer>
