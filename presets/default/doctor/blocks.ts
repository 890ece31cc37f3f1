import { builtInOverrides, statusOverride } from 'guard-gateway/plugins/http'
import { type Check, ok } from './check.ts'

/** Clients that get another status than 429 or 409 for a block: built-in and configured entries. */
export const blocks: Check = ({ config }) => {
  if (config === undefined) return []
  const own = config.server.block_status_override
  const statusOf = statusOverride(own)
  const inForce = builtInOverrides.filter(({ agents, status }) => statusOf(agents.replace('*', '1'), 429) === status)
  const off = builtInOverrides.filter((one) => !inForce.includes(one))
  const named = Object.entries(own).map(([agents, status]) => `${agents} ${status ?? '429 or 409'}`)
  return [
    ok(
      `blocks: ${[
        ...(named.length === 0 ? [] : [`by server.block_status_override ${named.join(', ')}`]),
        ...(inForce.length === 0
          ? []
          : [`built in ${inForce.map(({ agents, status }) => `${agents} ${status}`).join(', ')}`]),
        ...(off.length === 0 ? [] : [`switched off ${off.map(({ agents }) => agents).join(', ')}`]),
        'all others 429 or 409',
      ].join('; ')}`,
    ),
  ]
}
