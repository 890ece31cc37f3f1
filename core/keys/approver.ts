import { randomBytes } from 'node:crypto'
import type { TUnsafe } from 'typebox'
import { type Html, html } from '../../plugins/lib/html.ts'
import { sha256 } from '../../plugins/lib/ids.ts'
import type { Approver } from '../contracts/access.ts'
import type { FieldFault } from '../contracts/page.ts'
import { GuardError } from '../errors.ts'

/** Header that carries the approver key. */
export const APPROVER_HEADER = 'x-guard-approver-key'

/** What routes that ask for the key say of their headers. */
export const approverHeaders = {
  type: 'object',
  properties: {
    [APPROVER_HEADER]: { type: 'string', description: 'The approver key, where mcp.approver_key is set.' },
  },
} as unknown as TUnsafe<Readonly<Record<string, unknown>>>

/** The flag of commands that loosen something. */
export const APPROVER_FLAG = {
  '--approver-key <key>': 'mcp.approver_key, where one is set; GUARD_APPROVER_KEY if not said',
}

const HASHED = /^sha256:([0-9a-f]{64})$/i
const FIELD = 'approver_key'

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
    throw new GuardError('APPROVER_KEY_REQUIRED', given === undefined ? `${message} ${how}` : message)
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
      check(typeof given === 'string' ? given : undefined)
    },
    faultIn(fields) {
      const message = fault(fields.get(FIELD) || undefined)
      return message === undefined ? undefined : { field: FIELD, message }
    },
  }
}

/** Where the approver key is typed, if one is set. `faults`: of the one form that was refused, whose list of faults links here. */
export const approverField = (
  { needsKey }: Approver,
  faults: readonly FieldFault[] | undefined,
  required: 'required' | 'optional' = 'required',
): Html | false =>
  needsKey &&
  html`<label>Approver key<input${faults?.some(({ field }) => field === FIELD) && html` id="field-approver_key"`} type="password" name="approver_key" autocomplete="off"${required === 'required' && html` required`}></label>`
