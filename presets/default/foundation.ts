import type { Plugin } from 'guard-gateway/core'
import { memoryBudget } from 'guard-gateway/plugins/memory-budget'
import { foundation } from 'guard-gateway/presets/foundation'
import { addSecrets } from './config/credentials.ts'
import { patternFinders } from './config/patterns.ts'
import type { Config } from './config/schema.ts'

/** The foundation for a configuration. Its credentials are redacted everywhere. */
export const configuredFoundation = (config: Config): readonly Plugin[] => {
  const { names, emails, patterns } = config.redaction
  return [
    ...foundation({
      redaction: { names, emails, finders: patternFinders(patterns) },
      access: { approver_key: config.mcp.approver_key },
      store: config.storage,
    }),
    memoryBudget(config.memory),
    { name: 'credentials', requires: ['redaction'], apply: (gateway) => addSecrets(gateway.secrets, config) },
  ]
}
