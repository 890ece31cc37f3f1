import { type Gateway, GuardError } from 'guard-gateway/core'
import { storedId } from '#lib/ids'
import { isSessionName } from '#lib/session'

/** Without the names that browsers take for folders in the path of an address. */
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

/** Identifiers from outside as they are stored and shown; undefined for one that cannot be used, as a credential cannot. */
export interface Identifiers {
  /** For projects and agents. */
  readonly name: (text: string) => string | undefined
  /** For session ids that clients choose: 1 to 512 printable characters, not all blank. */
  readonly external: (text: string) => string | undefined
}

export const identifiers = ({ redact }: Pick<Gateway, 'redact'>): Identifiers => ({
  name: (text) => (NAME.test(text) ? storedId(text, redact) : undefined),
  external: (text) => (isSessionName(text) ? storedId(text, redact) : undefined),
})

/** For a header whose value cannot name a project or an agent; the value itself may be a secret and is not repeated. */
export const badName = (header: string): GuardError =>
  new GuardError(
    'INVALID_HEADER',
    `The header ${header} cannot be used. Send 1 to 128 of A-Z a-z 0-9 . _ - that hold no credential and are not "." or "..".`,
    { path: header },
  )

/** For a header whose value cannot name a session. */
export const badExternal = (header: string): GuardError =>
  new GuardError(
    'INVALID_HEADER',
    `The header ${header} cannot be used. Send 1 to 512 printable characters that hold no credential.`,
    { path: header },
  )
