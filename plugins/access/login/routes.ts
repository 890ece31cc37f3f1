import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { html } from '#lib/html'
import type { View } from '#lib/page'
import { hasScope, type Principal, requestPrincipals } from '#lib/principal'
import type { AccessKeys } from '../keys/access-keys.ts'
import { cookieOf, setCookie } from './cookie.ts'
import type { LoginSessions } from './login-sessions.ts'

const MAX_BYTES = 16_384

/** What logins are made of. */
export interface LoginParts {
  readonly gateway: Gateway
  readonly keys: AccessKeys
  readonly logins: LoginSessions
}

/** The login page, what it sends, and the way out. */
export const loginRoutes =
  ({ gateway, keys, logins }: LoginParts) =>
  async (app: FastifyInstance): Promise<void> => {
    const schema = { hide: true } as object
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_BYTES },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    )
    const documents = () => gateway.service('documents').get()
    const show = (reply: FastifyReply, status: number, next: string, fault?: string): FastifyReply => {
      const text = documents()?.bare(loginView({ next, fault, hasAdmin: keys.hasAdmin }))
      if (text === undefined) throw new GuardError('NOT_FOUND')
      return reply.code(status).type('text/html; charset=utf-8').send(text)
    }

    app.get('/login', { schema }, async (request, reply) => {
      const next = pathWithin(new URLSearchParams(request.url.split('?', 2)[1] ?? '').get('next'))
      if (isLocal(gateway)) return reply.type('text/html; charset=utf-8').send(documents()?.bare(needlessView))
      if (requestPrincipals.get(request.raw)?.kind === 'session') return reply.redirect(next, 303)
      // another process may have made the first key
      if (!keys.hasAdmin) await keys.refresh()
      return show(reply, 200, next)
    })

    app.post('/login', { schema }, async (request, reply) => {
      const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
      const next = pathWithin(fields.get('next'))
      if (isLocal(gateway)) return reply.redirect(next, 303)
      const key = fields.get('key')?.trim() ?? ''
      const principal = await principalOf(gateway, keys, key)
      const fault = faultOf(principal, key)
      if (principal?.key_id == null || fault !== undefined) {
        await refuse(gateway, request, principal)
        return show(reply, 401, next, fault)
      }
      await logins.end(cookieOf(request.raw))
      const { value, seconds } = await logins.begin(principal.key_id)
      const actor: Principal = { ...principal, kind: 'session' }
      await gateway
        .service('audit')
        .need()
        .note({ action: 'login', actor, details: addressOf(request) })
      return reply.header('set-cookie', setCookie(request.raw, value, seconds)).redirect(next, 303)
    })

    app.post('/logout', { schema }, async (request, reply) => {
      await logins.end(cookieOf(request.raw))
      const actor = requestPrincipals.get(request.raw)
      if (actor?.kind === 'session') await gateway.service('audit').need().note({ action: 'logout', actor })
      return reply.header('set-cookie', setCookie(request.raw, '', 0)).redirect('/login', 303)
    })
  }

const isLocal = (gateway: Gateway): boolean => gateway.service('http').get()?.isBeyondLoopback !== true

const principalOf = async (gateway: Gateway, keys: AccessKeys, key: string): Promise<Principal | undefined> => {
  await gateway.keys.lookUp([key])
  const identity = gateway.keys.identify([key])
  if (identity === undefined) return undefined
  const { key_id, scopes } = identity
  const known = key_id !== null && scopes !== undefined ? keys.principalOf(key_id) : undefined
  return known ?? programs
}

/** The gateway key and the keys of agents, which programs show. */
const programs: Principal = { name: 'gateway key', kind: 'key', scopes: new Set(), projects: null, key_id: null }

const faultOf = (principal: Principal | undefined, key: string): string | undefined => {
  if (key === '') return 'Type or paste a key.'
  if (principal === undefined) return 'This key is unknown, revoked or expired.'
  if (principal.key_id === null)
    return 'This is a key for agents and other programs. Log in with a key that has the scope read.'
  return hasScope(principal, 'read') ? undefined : 'This key is not for pages: it has no scope read.'
}

const refuse = async (gateway: Gateway, request: FastifyRequest, principal: Principal | undefined): Promise<void> => {
  const { isRecorded } = await gateway.service('principals').need().refused('login', request.raw)
  const actor: Principal = principal ?? { ...programs, name: 'unknown' }
  // of somebody who keeps trying not every attempt is kept
  if (isRecorded)
    await gateway
      .service('audit')
      .need()
      .note({ action: 'login.failed', actor, details: addressOf(request) })
}

const addressOf = ({ raw }: FastifyRequest) => ({ address: raw.socket.remoteAddress ?? '' })

/** A path of this server to go to after the login. */
const pathWithin = (target: string | null): string =>
  target !== null && /^\/(?![/\\])[!-[\]-~]*$/.test(target) && !/^\/log(?:in|out)\b/.test(target) ? target : '/'

/** What a login page says. */
interface LoginState {
  /** Path to go to afterwards. */
  readonly next: string
  /** What was wrong with the key. */
  readonly fault?: string | undefined
  /** Some live key may administer. */
  readonly hasAdmin: boolean
}

/** The page that turns a key into a login. It works without script. */
const loginView = ({ next, fault, hasAdmin }: LoginState): View => ({
  title: 'Log in',
  main: html`<h1>Log in</h1>
<p>This gateway can be reached from other machines, so its pages ask who you are.</p>
${!hasAdmin && noAdmin}
${fault !== undefined && html`<p class="faults" role="alert" id="fault-key">${fault}</p>`}
<form class="login" method="post" action="/login"><input type="hidden" name="next" value="${next}">
<label for="key">Key</label><input id="key" type="password" name="key" autocomplete="current-password" required${fault !== undefined && html` aria-invalid="true" aria-describedby="fault-key"`}>
<button class="main">Log in</button></form>
<p class="quiet">Whoever administers the gateway makes keys, with <code>guard key create --scope read</code> or on its page Keys.</p>`,
})

const noAdmin = html`<p class="notice" role="status">There is no key that may administer yet. On the machine of the gateway make one: <code>guard key create --name you --scope admin</code></p>`

/** On loopback nobody logs in. */
const needlessView: View = {
  title: 'Log in',
  main: html`<h1>Log in</h1>
<p>Nobody needs to: only this machine reaches the gateway. <a href="/">What is going on now</a></p>`,
}
