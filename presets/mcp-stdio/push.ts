import type { Plugin } from 'guard-gateway/core'
import { auditPush, otlpPush } from 'guard-gateway/plugins/otlp-push'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { auditPlaces } from '../default/config/audit-places.ts'
import type { Config } from '../default/config.ts'
import { version } from '../default/version.ts'

export const push = (config: Config): readonly Plugin[] => [
  undici,
  ...(config.replay.otlp_export.length === 0 ? [] : [otlpPush({ receivers: config.replay.otlp_export, version })]),
  ...(config.mcp.audit_export.length === 0 ? [] : [auditPush({ places: auditPlaces(config), version })]),
]
