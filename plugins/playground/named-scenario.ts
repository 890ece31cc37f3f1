import { GuardError } from 'guard-gateway/core'

/** The scenario that a body names, by either of the two names. Throws INVALID_REQUEST if they differ, or if it names none and there is no `otherwise`. */
export const namedScenario = (
  { scenario, scenario_id }: { readonly scenario?: string; readonly scenario_id?: string },
  otherwise?: string,
): string => {
  const id = scenario ?? scenario_id ?? otherwise
  if (id === undefined)
    throw new GuardError(
      'INVALID_REQUEST',
      'A run needs "scenario": the id of one of GET /api/v1/playground/scenarios.',
      { path: '/scenario' },
    )
  if (scenario_id !== undefined && scenario_id !== id)
    throw new GuardError('INVALID_REQUEST', '"scenario" and "scenario_id" name two scenarios; send one of them.', {
      path: '/scenario_id',
    })
  return id
}
