import { type Clock, Gateway, type Plugin, systemClock } from 'guard-gateway/core'
import { type Refuse, refusal } from './config/config-errors.ts'
import type { Config } from './config/schema.ts'
import { errorOriginIn } from './plugin-error-origin.ts'
import { fileOf, usePlugins } from './plugin-files.ts'

/** Loads only the plugins of the configured preset. */
const pluginsOf = async (config: Config): Promise<readonly Plugin[]> => {
  const { preset } = config
  if (preset === 'minimal') return (await import('guard-gateway/presets/minimal')).minimalPreset(config)
  if (preset === 'enforce-recommended') {
    return (await import('guard-gateway/presets/enforce-recommended')).enforceRecommendedPreset(config)
  }
  if (preset === 'mcp-stdio') return (await import('guard-gateway/presets/mcp-stdio')).mcpStdioPreset(config)
  if (preset === 'mcp-serve') return (await import('guard-gateway/presets/mcp-serve')).mcpServePreset(config)
  return (await import('./preset.ts')).defaultPreset(config)
}

/** Creates a gateway with the configured preset, then the user's plugin files, then `more`. It is not open yet. `refuse` gets the errors of missing plugins, `notice` a line for each that a smaller preset leaves out. */
export const createGateway = async (
  config: Config,
  more: readonly Plugin[] = [],
  refuse: Refuse = refusal(),
  clock: Clock = systemClock,
  notice: (message: string) => void = () => {},
): Promise<Gateway> => {
  const { preset, plugins } = config
  const shipped = await pluginsOf(config)
  const gateway = new Gateway({ clock }).use(...shipped)
  gateway.culpritOf = errorOriginIn(plugins.map(fileOf))
  const smaller = preset === 'default' || preset === 'enforce-recommended' ? undefined : preset
  await usePlugins(gateway, plugins, refuse, { smaller, notice })
  gateway.use(...more)
  if (preset !== 'minimal' && Object.keys(config.notify.receivers).length > 0) {
    const { receiverErrors } = await import('./config/checks-notify.ts')
    refuse(await receiverErrors(gateway, config))
  }
  if (preset === 'mcp-stdio' || preset === 'mcp-serve') return gateway
  const { pluginErrors } = await import('./config/checks-plugins.ts')
  refuse(pluginErrors(gateway, config))
  return gateway
}
