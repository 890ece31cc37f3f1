import { type Clock, Gateway, type Plugin, systemClock } from 'guard-gateway/core'
import { type Refuse, refusal } from './config/faults.ts'
import type { Config } from './config/schema.ts'
import { culpritIn } from './plugin-culprit.ts'
import { usePlugins } from './plugin-files.ts'

/** The plugins of a preset; only those that it has are loaded. */
const pluginsOf = async (config: Config): Promise<readonly Plugin[]> => {
  const { preset } = config
  if (preset === 'minimal') return (await import('guard-gateway/presets/minimal')).minimalPreset(config)
  if (preset === 'enforce-recommended') {
    return (await import('guard-gateway/presets/enforce-recommended')).enforceRecommendedPreset(config)
  }
  if (preset === 'mcp-stdio') return (await import('guard-gateway/presets/mcp-stdio')).mcpStdioPreset(config)
  if (preset === 'mcp-serve') return (await import('guard-gateway/presets/mcp-serve')).mcpServePreset(config)
  return (await import('guard-gateway/presets/default')).defaultPreset(config)
}

/**
 * A gateway of the configured preset, the plugins of the user's files after it, and `more`; it is not open yet.
 * `refuse` gets the faults of missing plugins.
 */
export const createGateway = async (
  config: Config,
  more: readonly Plugin[] = [],
  refuse: Refuse = refusal(),
  clock: Clock = systemClock,
): Promise<Gateway> => {
  const { preset, plugins } = config
  const shipped = await pluginsOf(config)
  const gateway = new Gateway({ clock }).use(...shipped)
  gateway.culpritOf = culpritIn(plugins)
  await usePlugins(gateway, plugins, refuse)
  gateway.use(...more)
  if (preset === 'mcp-stdio' || preset === 'mcp-serve') return gateway
  const { pluginFaults } = await import('./config/checks-plugins.ts')
  refuse(pluginFaults(gateway, config))
  return gateway
}
