import type { Plugin } from 'guard-gateway/core'
import { type Config, defaultPreset } from 'guard-gateway/presets/default'

/** The default preset that stops what is surely stuck: projects without a policy have the recommended rules, enforced whatever `default_mode` says. */
export const enforceRecommendedPreset = (config: Config): readonly Plugin[] =>
  defaultPreset(config, 'enforce-recommended', () => 'enforce')
