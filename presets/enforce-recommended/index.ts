import type { Plugin } from 'guard-gateway/core'
import type { Config } from '../default/config.ts'
import { defaultPreset } from '../default/preset.ts'

/** The default preset with enforced rules: projects without a policy use the recommended rules, whatever `default_mode` says. */
export const enforceRecommendedPreset = (config: Config): readonly Plugin[] =>
  defaultPreset(config, 'enforce-recommended', () => 'enforce')
