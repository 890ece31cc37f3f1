import type { Finder, Gateway, Plugin, Redaction } from 'guard-gateway/core'
import { cleanFragment } from './fragment/clean.ts'
import { type RedactorOptions, redactor } from './redact.ts'
import { SecretFinder } from './secrets.ts'
import { SeenValues } from './seen.ts'

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
    const redactorOf = (own: RedactorOptions) =>
      redactor({ ...own, credentials: secrets.find, finders, fault: (error) => gateway.fault(error, 'redact') })
    const own = redactorOf(options)
    const seen = new SeenValues()
    const within: Redaction['within'] = async (scope, work) => {
      const before = seen.of(scope)
      const redact = own.within(before)
      const first = await work(redact)
      return before.changes === 0 ? first : work(redact)
    }
    // what people write to each other is no secret to the agent they wrote it for
    const results = { ...options, emails: false }
    gateway.service('resultRedactor').provide(redactorOf(results))
    gateway.service('redaction').provide({
      redactor: own,
      secrets,
      cleaned,
      within,
      fragment: (fragment) => within(fragment.run, (redact) => cleanFragment(fragment, redact, cleaned)),
    })
  },
})
