import type { Gateway } from 'guard-gateway/core'
import { upstreamLines } from 'guard-gateway/plugins/clients'
import { isLoopback } from 'guard-gateway/plugins/http'
import { spentText } from 'guard-gateway/plugins/recorder'
import { ENFORCE_RECOMMENDED } from '#lib/budget'
import { jsonObjectOf } from '#lib/json'
import { DEFAULT_PROJECT } from '#lib/session'
import { type CallRecord, isPlayground } from '#lib/trace'
import { type Check, error, ok, warning } from './check.ts'
import { reachability } from './reachability.ts'

const DAY_MS = 86_400_000
const RECENT = 500

/** Checks the settings of upstreams; with `--online`, checks that they answer. */
export const upstreams: Check = async ({ config, options, health }) => {
  // the loader already warns of a configuration without upstreams
  if (config === undefined) return []
  const settings = await Promise.all(
    config.upstreams.map(async ({ name, base_url, api_key, api_keys, auth, ...route }) => {
      const isKeyless = api_key === undefined && api_keys.length === 0
      if (isKeyless && auth !== 'none' && auth !== 'passthrough' && !isLoopback(new URL(base_url).hostname))
        return error(
          `upstream ${name} has no api_key`,
          'Set api_key, for example to a variable of the environment, or auth: none where no key is needed.',
        )
      if (options.online !== true) return ok(`upstream ${name} at ${base_url}`)
      return reachability(`upstream ${name}`, base_url, route, 'Check base_url and network.')
    }),
  )
  return [...settings, ...upstreamLines(health).map((line) => warning(line, 'Its own status page or logs say why.'))]
}

interface PricingSection {
  readonly status?: string
  readonly error?: { readonly message: string }
  readonly as_of?: string | null
  readonly age_days?: number | null
  readonly stale?: boolean
}

/** Checks that the price file is valid and contains the recently used models. */
export const pricing: Check = async ({ gateway }) => {
  const section = gateway?.health.get('pricing')?.() as PricingSection | undefined
  if (gateway === undefined || section === undefined) return []
  if (section.status !== 'ok' && section.status !== undefined)
    return [
      warning(`prices: ${section.error?.message}`, 'Correct the file; GUARD_MODEL_PRICING or replay.pricing names it.'),
    ]
  const unpriced = new Set((await recent(gateway)).filter(isUnpriced).map((call) => call.model_requested))
  // requests without a model
  unpriced.delete('')
  const aged =
    section.stale === true
      ? [
          warning(
            `prices are as of ${section.as_of}, ${section.age_days} days ago`,
            'Look for newer ones; guard prices names the sources.',
          ),
        ]
      : []
  if (unpriced.size === 0)
    return aged.length > 0 ? aged : [ok(section.as_of ? `prices as of ${section.as_of}` : 'prices')]
  return [
    ...aged,
    warning(
      `no price for ${[...unpriced].slice(0, 5).join(', ')}: their cost counts as 0`,
      'Add them to the price file; GUARD_MODEL_PRICING or replay.pricing names it.',
    ),
  ]
}

const isUnpriced = ({ cost_source }: CallRecord): boolean => cost_source === 'unpriced'

/** A share of requests from which on it is no good news that enforce would have refused them. */
const NOTABLE_SHARE = 0.05

/** Reports the mode of projects without a policy of their own, and in shadow mode what enforcing would have refused in the last seven days, by the sums of all calls on record. */
export const mode: Check = async ({ config, gateway }) => {
  if (config === undefined || gateway === undefined) return []
  const inForce = await gateway.service('rules').get()?.of(DEFAULT_PROJECT)
  if (inForce?.mode === 'enforce') return [ok('mode enforce')]
  const week = await weekOf(gateway)
  if (week === undefined || week.requests === 0) return [ok('mode shadow')]
  const { requests, flagged, saved, unit, complete } = week
  const share = flagged / requests
  const percent = share > 0 && share < 0.01 ? 'under 1' : (share * 100).toFixed(0)
  const what = `mode shadow: enforce would have blocked ${flagged} of ${complete ? '' : 'at least '}${requests} requests of the last seven days (${percent} %)`
  if (saved.requests_since_flag === 0) return [ok(what)]
  const cost = `${what}; their sessions went on for ${spentText(saved, unit)}`
  if (share < NOTABLE_SHARE) return [ok(cost)]
  return [
    warning(
      cost,
      `guard report shows which sessions. If they were loops, guard ${ENFORCE_RECOMMENDED} tries the recommended rules on what is stored, and stops such sessions.`,
    ),
  ]
}

/** What the sums tell of the last seven days; undefined where nothing is recorded. */
const weekOf = async (gateway: Gateway) => {
  const [figures, flags] = [gateway.service('figures').get(), gateway.service('flags').get()]
  if (figures === undefined || flags === undefined) return undefined
  const now = gateway.clock.now()
  const time = { since: now - 7 * DAY_MS, until: now + 1 }
  const [{ totals, complete }, { saved, rules }] = await Promise.all([
    figures.read({ ...time, step: 'hour', group: 'none', playground: false }),
    flags.report(time),
  ])
  const flagged = rules.reduce((sum, rule) => sum + (rule.would_refuse ? rule.flagged : 0), 0)
  const { currency } = jsonObjectOf(gateway.health.get('pricing')?.())
  const unit = typeof currency === 'string' ? currency : 'cost'
  return { requests: totals.requests, flagged, saved, complete, unit }
}

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
  (await newest(gateway, RECENT)).filter((call) => !isPlayground(call))

const newest = async ({ storage }: Gateway, limit: number): Promise<readonly CallRecord[]> =>
  (await storage.find('calls', { limit, order: ['recorded', 'desc'] })).rows
