import type { Gateway } from 'guard-gateway/core'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { isLoopback } from 'guard-gateway/plugins/http'
import { type Check, error, ok, warning } from './check.ts'
import { reachability } from './reachability.ts'

const DAY_MS = 86_400_000
const RECENT = 500

/** Checks the settings of upstreams; with `--online`, checks that they answer. */
export const upstreams: Check = async ({ config, options }) => {
  // the loader already warns of a configuration without upstreams
  if (config === undefined) return []
  return Promise.all(
    config.upstreams.map(async ({ name, base_url, api_key, auth, ...route }) => {
      if (api_key === undefined && auth !== 'none' && auth !== 'passthrough' && !isLoopback(new URL(base_url).hostname))
        return error(
          `upstream ${name} has no api_key`,
          'Set api_key, for example to a variable of the environment, or auth: none where no key is needed.',
        )
      if (options.online !== true) return ok(`upstream ${name} at ${base_url}`)
      return reachability(`upstream ${name}`, base_url, route, 'Check base_url and network.')
    }),
  )
}

/** Checks that the price file is valid and contains the recently used models. */
export const pricing: Check = async ({ gateway }) => {
  const section = gateway?.health.get('pricing')?.() as
    | { readonly status?: string; readonly error?: { readonly message: string } }
    | undefined
  if (gateway === undefined || section === undefined) return []
  if (section.status !== 'ok' && section.status !== undefined)
    return [
      warning(`prices: ${section.error?.message}`, 'Correct the file; GUARD_MODEL_PRICING or replay.pricing names it.'),
    ]
  const unpriced = new Set((await recent(gateway)).filter(isUnpriced).map((call) => call.model_requested))
  // requests without a model
  unpriced.delete('')
  if (unpriced.size === 0) return [ok('prices')]
  return [
    warning(
      `no price for ${[...unpriced].slice(0, 5).join(', ')}: their cost counts as 0`,
      'Add them to the price file; GUARD_MODEL_PRICING or replay.pricing names it.',
    ),
  ]
}

const isUnpriced = ({ cost_source }: CallRecord): boolean => cost_source === 'unpriced'

/** Reports the default mode, and the effect of the other mode on at most 500 requests of the last week. */
export const mode: Check = async ({ config, gateway }) => {
  if (config === undefined || gateway === undefined) return []
  if (config.default_mode === 'enforce') return [ok('default mode enforce')]
  const since = gateway.clock.now() - 7 * DAY_MS
  const week = (await recent(gateway)).filter(({ received_at }) => received_at >= since)
  if (week.length === 0) return [ok('default mode shadow')]
  const blocked = week.filter(wouldBlock).length
  return [
    ok(`default mode shadow: enforce would have blocked ${blocked} of ${week.length} requests of the last seven days`),
  ]
}

/** A rule with another action than block flags in either mode. */
const wouldBlock = ({ decision, matches }: CallRecord): boolean =>
  decision === 'shadow_flag' && matches?.some(({ action }) => action === 'block' || action === 'pause') === true

/** Checks that the clock is not earlier than the newest record. */
export const clock: Check = async ({ gateway }) => {
  if (gateway === undefined) return []
  const [last] = await newest(gateway, 1)
  const lead = last === undefined ? 0 : last.received_at - Date.now()
  if (lead <= 0) return []
  return [warning(`the newest record is ${Math.ceil(lead / 1000)} s in the future`, 'Check the clock of this machine.')]
}

/** Newest requests without those of Playground scenarios. */
const recent = async (gateway: Gateway): Promise<readonly CallRecord[]> =>
  (await newest(gateway, RECENT)).filter(({ upstream }) => upstream !== 'playground')

const newest = async ({ storage }: Gateway, limit: number): Promise<readonly CallRecord[]> =>
  (await storage.find('calls', { limit, order: ['recorded', 'desc'] })).rows
