import type { Approver } from 'guard-gateway/core'
import type { TUnsafe } from 'typebox'
import { type Html, html } from '#lib/html'
import type { FieldFault } from '#lib/page'
import { mayOperate } from '#lib/principal'

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

/** The field of forms that loosen something. */
export const APPROVER_FIELD = 'approver_key'

/** Where the approver key is typed, if one is set. `faults`: of the one form that was refused, whose list of faults links here. */
export const approverField = (
  { needsKey }: Approver,
  faults: readonly FieldFault[] | undefined,
  required: 'required' | 'optional' = 'required',
): Html | false =>
  needsKey &&
  !mayOperate() &&
  html`<label>Approver key<input${faults?.some(({ field }) => field === APPROVER_FIELD) && html` id="field-approver_key"`} type="password" name="approver_key" autocomplete="off"${required === 'required' && html` required`}></label>`
