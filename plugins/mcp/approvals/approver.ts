import { GuardError, sha256 } from 'guard-gateway/core'

/** Header that carries the approver key. */
export const APPROVER_HEADER = 'x-guard-approver-key'

/** Who may approve: anybody on this machine, or who knows a key. */
export interface Approver {
  /** A key is set. */
  readonly needsKey: boolean
  /** Throws APPROVER_KEY_REQUIRED unless the key is the right one, or none is needed. */
  check(key: string | undefined): void
}

const HASHED = /^sha256:([0-9a-f]{64})$/i

/** The approver that a configuration describes: `key` is the key itself, or `sha256:` and its hex digest; undefined lets everybody approve. */
export const approver = (key: string | undefined): Approver => {
  const wanted = key === undefined ? undefined : (HASHED.exec(key)?.[1]?.toLowerCase() ?? sha256(key))
  return {
    needsKey: wanted !== undefined,
    check(given) {
      // digests are compared: how many of their characters are equal says nothing about the key
      if (wanted === undefined || (given !== undefined && sha256(given) === wanted)) return
      throw new GuardError(
        'APPROVER_KEY_REQUIRED',
        given === undefined
          ? `This needs the approver key. Send it as ${APPROVER_HEADER}, or give --approver-key on the command line.`
          : 'The approver key is wrong.',
      )
    },
  }
}
