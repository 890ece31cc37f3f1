import type { Gateway, Plugin } from 'guard-gateway/core'
import { approver } from './approver.ts'
import { KeyRing } from './key-ring.ts'

export interface AccessOptions {
  /** The approver key, or `sha256:` and its hex digest; anybody may approve if absent or empty. */
  readonly approver_key?: string
}

/** Who may call, and who may loosen what holds agents back. */
export const access = ({ approver_key }: AccessOptions = {}): Plugin => ({
  name: 'access',
  apply(gateway: Gateway) {
    gateway.service('access').provide({ keys: new KeyRing(), approver: approver(approver_key || undefined) })
  },
})
