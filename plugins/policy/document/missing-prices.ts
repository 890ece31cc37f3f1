import type { Gateway } from 'guard-gateway/core'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { isUnpriced } from '../history/settle.ts'

/** Newest requests of all projects that are searched for models without a price. */
const RECENT = 500
const NAMED = 5

/** Why a rule about cost misses some cost of a project, as text; null if it misses none. */
export const missingPrices = async (gateway: Gateway, project_id: string): Promise<string | null> => {
  const prices = gateway.health.get('pricing')?.() as { readonly models?: number } | undefined
  if ((prices?.models ?? 0) === 0)
    return 'No model has a price, so that every request costs 0 and the rule never matches. Name a price file with replay.pricing or GUARD_MODEL_PRICING.'
  const models = [...new Set((await recent(gateway, project_id)).map((call) => call.model_requested))]
  if (models.length === 0) return null
  const more = models.length > NAMED ? ` and ${models.length - NAMED} more` : ''
  return `There is no price for ${models.slice(0, NAMED).join(', ')}${more}: their requests cost 0 in this rule. Add them to the price file.`
}

const recent = async (gateway: Gateway, project_id: string): Promise<readonly CallRecord[]> => {
  if (gateway.tables.get('calls') === undefined) return []
  const { rows } = await gateway.storage.find('calls', { order: ['received_at', 'desc'], limit: RECENT })
  return rows.filter((call) => call.project_id === project_id && isUnpriced(call.total_tokens, call.cost_source))
}
