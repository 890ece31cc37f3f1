import type { Plugin } from 'guard-gateway/core'
import { addSecrets } from './config/credentials.ts'
import { patternFinders } from './config/patterns.ts'
import type { Config } from './config/schema.ts'

/** What a configuration says of the gateway itself: where rows are kept, what is hidden, who may loosen what holds agents back. */
export const settings = (config: Config): Plugin => ({
  name: 'settings',
  apply(gateway) {
    const { storage, redaction, mcp } = config
    const { names, emails, patterns } = redaction
    gateway.configure({
      storage: storage.backend,
      onStorageFailure: storage.on_failure,
      redaction: { names, emails, finders: patternFinders(patterns) },
    })
    addSecrets(gateway.secrets, config)
    if (mcp.approver_key !== '') gateway.approver.demand(mcp.approver_key)
  },
})
