import type { Plugin } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { http } from 'guard-gateway/plugins/http'
import { policy } from 'guard-gateway/plugins/policy'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { upstream } from 'guard-gateway/plugins/upstream'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import type { Config } from '../default/config.ts'
import { configuredFoundation } from '../default/foundation.ts'

/** The smallest useful gateway: one API style, one rule, and storage in memory. */
export const minimalPreset = (config: Config): readonly Plugin[] => [
  ...configuredFoundation({ ...config, storage: { ...config.storage, backend: 'memory' } }),
  memory(),
  messages,
  exactRepeat,
  undici,
  http(config),
  upstream(config),
  sessions(config.sessions),
  policy({
    get default_mode() {
      return config.default_mode
    },
    time_zone: config.budgets.time_zone,
  }),
]
