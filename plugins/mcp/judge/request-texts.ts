import { terminalLine } from 'guard-gateway/lib/text'
import { deniedText } from '../actions/texts.ts'

/** Texts about requests that are no calls of tools. */
export const REQUEST_TEXTS = {
  /** For the record, and for who is asked. */
  asked: (asker: 'client' | 'server', denied: boolean): string =>
    `${asker === 'server' ? 'the server asks its client' : 'the client asks the server'}${denied ? ', which the policy denies' : ''}`,
  denied: (method: string, rule_id: string): string =>
    rule_id === 'default'
      ? `Denied by the policy: it allows no ${terminalLine(method)}, and its default is deny.`
      : `Denied by the policy (${rule_id}): ${terminalLine(method)} is not allowed.`,
  confirm: (approval_id: string, method: string, server_id: string, seconds: number): string =>
    `Approval required (${approval_id}): ${terminalLine(method)} on "${terminalLine(server_id)}". Ask the user to approve it in Guard, then send the same request again. Expires in ${seconds} s.`,
  deniedByUser: deniedText,
  unrecorded: 'The request cannot be recorded, so it is not forwarded. Try again.',
}
