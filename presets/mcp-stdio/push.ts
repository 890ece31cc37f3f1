import type { Plugin } from 'guard-gateway/core'
import { otlpPush } from 'guard-gateway/plugins/otlp-push'
import { net } from 'guard-gateway/plugins/upstream-clients/net'
import type { Config } from 'guard-gateway/presets/default'
import { version } from '../default/version.ts'

export const push = ({ replay }: Config): readonly Plugin[] => [
  net,
  ...(replay.otlp_export.length === 0 ? [] : [otlpPush({ receivers: replay.otlp_export, version })]),
]
