import { type Gateway, GuardError } from 'guard-gateway/core'
import { storedId } from '#lib/ids'
import { currentPrincipal, isScope, type Scope } from '#lib/principal'
import { instantOf } from '#lib/time'
import type { KeyRequest } from './access-keys.ts'

const AGE = /^\d{1,6}[smhd]$/
const PROJECT = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

/** A key as it is asked for. */
export interface KeyInput {
  readonly name: string
  readonly scopes: readonly string[]
  readonly projects?: readonly string[] | undefined
  readonly expires_in?: string | undefined
}

/** Checks what a key is asked to be. Throws INVALID_REQUEST with the member that is wrong. Whoever is bound to projects makes keys that are bound to some of them. */
export const keyRequest = (
  { name, scopes, projects, expires_in }: KeyInput,
  now: number,
  redact: Gateway['redact'],
): KeyRequest => {
  const text = name.trim()
  if (text === '') throw wrong('/name', 'The name is empty. Say whose key it is.')
  const odd = scopes.find((scope) => !isScope(scope))
  if (odd !== undefined) throw wrong('/scopes', `There is no scope "${odd}".`)
  if (scopes.length === 0) throw wrong('/scopes', 'Name at least one scope.')
  return {
    name: text,
    scopes: [...new Set(scopes as readonly Scope[])],
    projects: boundTo(projects?.map((project) => storedId(project, redact) ?? '')),
    expires_at: expires_in === undefined ? null : expiry(expires_in, now),
  }
}

const boundTo = (requested: readonly string[] | undefined): readonly string[] | null => {
  const odd = requested?.find((project) => !PROJECT.test(project))
  if (odd !== undefined)
    throw wrong('/projects', `"${odd}" cannot be a project. It is 1 to 128 of the characters A-Z a-z 0-9 . _ -`)
  const own = currentPrincipal()?.projects ?? null
  const other = own === null ? undefined : requested?.find((project) => !own.includes(project))
  if (other !== undefined) throw wrong('/projects', `Your own key is not for the project "${other}".`)
  return requested === undefined ? own : [...new Set(requested)]
}

const expiry = (text: string, now: number): number => {
  const begun = AGE.test(text) ? instantOf(text, now) : undefined
  if (begun === undefined || begun === now)
    throw wrong('/expires_in', `"${text}" is no time to live. Write it as 12h or 30d.`)
  return now + (now - begun)
}

const wrong = (path: string, message: string): GuardError => new GuardError('INVALID_REQUEST', message, { path })
