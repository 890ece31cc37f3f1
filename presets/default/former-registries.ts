import type { Gateway, Kind } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { exportFormatKind } from 'guard-gateway/lib/export-format'
import { mcpCheckKind } from 'guard-gateway/lib/mcp-check'
import { mcpTransportKind } from 'guard-gateway/lib/mcp-transport'
import { formKind, pageKind, panelKind } from 'guard-gateway/lib/page'
import { upstreamClientKind } from 'guard-gateway/lib/upstream-client'

/** Fields of a gateway until 0.1.0, by the kind whose registry each was. */
const kinds = {
  commands: commandKind,
  exportFormats: exportFormatKind,
  forms: formKind,
  mcpChecks: mcpCheckKind,
  mcpTransports: mcpTransportKind,
  pages: pageKind,
  panels: panelKind,
  upstreamClients: upstreamClientKind,
} as const

/** Lets plugin files of before say `gateway.commands` where one says `gateway.registry(commandKind)` now. */
export const addFormerRegistries = (gateway: Gateway): void => {
  for (const [name, kind] of Object.entries(kinds))
    Object.defineProperty(gateway, name, { get: () => gateway.registry(kind as Kind<{ readonly id: string }>) })
}
