import type { Finder, Gateway, Plugin } from 'guard-gateway/core'
import { cleanFragment } from './fragment/clean.ts'
import { redactor } from './redact.ts'
import { SecretFinder } from './secrets.ts'

export interface RedactionOptions {
  /** Names whose values are secrets, beside the built-in ones. */
  readonly names?: readonly string[]
  /** False keeps mail addresses. */
  readonly emails?: boolean
  /** What to hide besides, for example a user's patterns. */
  readonly finders?: readonly Finder[]
}

/** Hides secrets in all that is stored, logged or exported: configured credentials, known shapes, values under telling names. */
export const redaction = ({ finders = [], ...options }: RedactionOptions = {}): Plugin => ({
  name: 'redaction',
  apply(gateway: Gateway) {
    const secrets = new SecretFinder()
    const cleaned = new WeakSet<object>()
    const own = redactor({
      ...options,
      finders: [secrets.find, ...finders],
      fault: (error) => gateway.fault(error, 'redact'),
    })
    gateway.service('redaction').provide({
      redactor: own,
      secrets,
      cleaned,
      fragment: (fragment) => cleanFragment(fragment, own, cleaned),
    })
  },
})
