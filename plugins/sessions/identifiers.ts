import { type Gateway, GuardError } from 'guard-gateway/core'
import { isSessionName } from 'guard-gateway/lib/session'

/** Without the names that browsers take for folders in the path of an address. */
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

/** Tells which identifiers from outside may be used. */
export interface Identifiers {
  /** For projects and agents. */
  readonly isName: (text: string) => boolean
  /** For session ids that clients choose: 1 to 512 printable characters, not all blank. */
  readonly isExternal: (text: string) => boolean
}

/** What looks like a credential is no identifier: identifiers are stored and shown. */
export const identifiers = (gateway: Gateway): Identifiers => ({
  isName: (text) => NAME.test(text) && !gateway.redact.looksSecret(text),
  isExternal: (text) => isSessionName(text) && !gateway.redact.looksSecret(text),
})

/** For a header whose value cannot name a project or an agent; the value itself may be a secret and is not repeated. */
export const badName = (header: string): GuardError =>
  new GuardError(
    'INVALID_HEADER',
    `The header ${header} cannot be used. Send 1 to 128 of A-Z a-z 0-9 . _ - that do not look like a credential and are not "." or "..".`,
    { path: header },
  )

/** For a header whose value cannot name a session. */
export const badExternal = (header: string): GuardError =>
  new GuardError(
    'INVALID_HEADER',
    `The header ${header} cannot be used. Send 1 to 512 printable characters that do not look like a credential.`,
    { path: header },
  )
