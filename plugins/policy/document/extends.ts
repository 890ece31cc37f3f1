import { GuardError } from 'guard-gateway/core'
import { isJsonObject, jsonObjectOf } from '#lib/json'

/**
 * Resolves a shipped policy: a list of rules, or the list that `extends` names with `actions`, which replace `block` in enabled rules of the
 * given types. Throws INVALID_POLICY.
 */
export const extendedRules = async (
  list: unknown,
  read: (name: string) => Promise<unknown>,
): Promise<readonly unknown[]> => {
  if (Array.isArray(list)) return list
  const { extends: base, actions } = jsonObjectOf(list)
  if (typeof base !== 'string' || !isJsonObject(actions))
    throw new GuardError('INVALID_POLICY', 'A shipped policy is a list of rules, or has "extends" and "actions".')
  const rules = await extendedRules(await read(base), read)
  const changed = new Map(Object.entries(actions))
  return rules.map((rule) => {
    const { rule_type, action, enabled } = jsonObjectOf(rule)
    const other = changed.get(String(rule_type))
    return other !== undefined && enabled !== false && (action ?? 'block') === 'block'
      ? { ...jsonObjectOf(rule), action: other }
      : rule
  })
}
