import type { CleanedFragment, Finder, Fragment, Gateway, Plugin } from 'guard-gateway/core'
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
    const fragment = async (fragment: Fragment): Promise<CleanedFragment> => {
      const before = seen.of(
        fragment.run.trace_id,
        ...(fragment.run.session_id == null ? [] : [fragment.run.session_id]),
      )
      const clean = (): Promise<CleanedFragment> => cleanFragment(fragment, own.within(before), cleaned)
      const kept = await clean()
      // what was found late in it may stand earlier in it
      return before.changes === 0 ? kept : clean()
    }
    // what people write to each other is no secret to the agent they wrote it for
    const results = { ...options, emails: false }
    gateway.service('resultRedactor').provide(redactorOf(results))
    gateway.service('redaction').provide({
      redactor: own,
      secrets,
      cleaned,
      within: (session) => own.within(seen.of(session)),
      fragment,
    })
  },
})
