import type { Plugin } from 'guard-gateway/core'
import type { Config } from '../default/config.ts'
import { defaultPreset } from '../default/preset.ts'

/** Plugins that only model requests need. */
const models = /^(?:api-style|detector|upstream-socket)\/|^(?:upstream|responses-socket)$/

/** The default preset without model routes, for `guard mcp serve`. */
export const mcpServePreset = (config: Config): readonly Plugin[] =>
  defaultPreset(config).filter(({ name }) => !models.test(name))
