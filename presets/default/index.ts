export { mcpOptions } from './config/mcp-options.ts'
export { type Config, loadConfig, parseConfig } from './config.ts'
export { createGateway } from './gateway.ts'
export { defaultPreset } from './preset.ts'
