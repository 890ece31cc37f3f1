import type { Plugin } from 'guard-gateway/core'
import { type Config, defaultPreset } from 'guard-gateway/presets/default'

/** What model requests alone need. */
const models = /^(?:api-style|detector)\/|^upstream$/

/** The default preset without model routes: what `guard mcp serve` serves. */
export const mcpServePreset = (config: Config): readonly Plugin[] =>
  defaultPreset(config).filter(({ name }) => !models.test(name))
