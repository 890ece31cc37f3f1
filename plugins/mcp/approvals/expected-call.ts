import { GuardError } from 'guard-gateway/core'
import { cutText } from '#lib/text'
import type { ApprovalRow } from './tables.ts'

/** The call that the person who decides has seen. */
export interface ExpectedCall {
  readonly tool?: string
  /** The hash, or its first 16 digits and more. */
  readonly argument_hash?: string
}

/** Throws VERSION_CONFLICT if the approval is not of the call that was shown. */
export const checkExpectedCall = (row: ApprovalRow, { tool, argument_hash }: ExpectedCall): void => {
  const isOther =
    (tool !== undefined && posted(tool) !== posted(row.tool)) ||
    (argument_hash !== undefined && (argument_hash.length < 16 || !row.argument_hash.startsWith(argument_hash)))
  if (!isOther) return
  throw new GuardError(
    'VERSION_CONFLICT',
    `Approval ${row.id} asks about ${named(row)}, not about ${named({ ...row, ...defined({ tool, argument_hash }) })}, which was shown. Nothing is decided. Look at it anew.`,
    { state: row.status },
  )
}

/** A name as a form brings it: browsers write line breaks and lone surrogates otherwise. */
const posted = (name: string): string => name.replaceAll(/\r\n?/g, '\n').toWellFormed()

const defined = (expected: { readonly tool: string | undefined; readonly argument_hash: string | undefined }) =>
  Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined))

const named = ({ tool, argument_hash }: Pick<ApprovalRow, 'tool' | 'argument_hash'>): string =>
  `${cutText(tool, 128)} with arguments ${argument_hash.slice(0, 16)}…`
