import { randomBytes } from 'node:crypto'
import type { Approver } from 'guard-gateway/core'
import { GuardError } from 'guard-gateway/core'
import { APPROVER_FIELD, APPROVER_HEADER } from 'guard-gateway/lib/approver'
import { sha256 } from 'guard-gateway/lib/ids'
import { mayOperate } from 'guard-gateway/lib/principal'
import { accessErrors } from './error-codes.ts'

const HASHED = /^sha256:([0-9a-f]{64})$/i

const digestOf = (key: string): string => HASHED.exec(key)?.[1]?.toLowerCase() ?? sha256(key)

/** The approver that a configuration describes: `key` is the key itself, or `sha256:` and its hex digest; undefined lets everybody approve. */
export const approver = (key: string | undefined): Approver => {
  let wanted = key === undefined ? undefined : digestOf(key)
  const pass = randomBytes(32).toString('hex')
  const passed = sha256(pass)
  const fault = (given: string | undefined): string | undefined => {
    if (wanted === undefined) return undefined
    // digests are compared: how many of their characters are equal says nothing about the key
    if (given !== undefined && [wanted, passed].includes(sha256(given))) return undefined
    return given === undefined ? 'This needs the approver key.' : 'The approver key is wrong.'
  }
  const check = (given: string | undefined): void => {
    const message = fault(given)
    if (message === undefined) return
    const how = `Send it as ${APPROVER_HEADER}, or give --approver-key on the command line.`
    throw new GuardError(accessErrors.APPROVER_KEY_REQUIRED, given === undefined ? `${message} ${how}` : message)
  }
  return {
    get needsKey() {
      return wanted !== undefined
    },
    demand(next) {
      wanted ??= digestOf(next)
    },
    pass,
    check,
    checkHeaders({ [APPROVER_HEADER]: given }) {
      if (!mayOperate()) check(typeof given === 'string' ? given : undefined)
    },
    faultIn(fields) {
      if (mayOperate()) return undefined
      const message = fault(fields.get(APPROVER_FIELD) || undefined)
      return message === undefined ? undefined : { field: APPROVER_FIELD, message }
    },
  }
}
