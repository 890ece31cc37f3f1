import type { Routing } from '../load/client.ts'
import { type Shape, shapes } from '../load/shapes.ts'
import { type Fleet, type ScaleSetup, type Store, setPolicy } from './fleets.ts'
import { type Load, Sampler, type ScaleSample } from './sampler.ts'

/** A number of gateways on a storage, and how requests are routed to them. */
export interface Kind {
  readonly store: Store
  readonly gateways: number
  readonly routing: Routing
}

/** A kind under a load: with a budget of the project to keep, or without. */
export interface Case extends Kind {
  readonly shape: string
  readonly budget: boolean
}

/** A sample of a case. All samples of a round were taken one after another. */
export interface CaseSample extends ScaleSample {
  readonly of: Case
  readonly round: number
}

/** How much is measured. */
export interface GatewaysPlan {
  readonly rounds: number
  readonly agents: number
  /** Requests of a sample. */
  readonly requests: number
  /** Requests to each process before the first round. */
  readonly warm_up: number
  readonly sizes: readonly number[]
  readonly loads: readonly Pick<Case, 'shape' | 'budget'>[]
}

export const FREE = 'bench_free'
export const BUDGET = 'bench_budget'
/** A budget that every request is held against, and that none exceeds. */
const budget = {
  ...{ id: 'team', rule_type: 'max_requests', action: 'block', threshold: 1_000_000_000 },
  params: { scope: 'project', per: 'month' },
}
/** The rules of the default preset, and the budget. */
const rules = [
  { id: 'exact_repeat', rule_type: 'exact_repeat', threshold: 3, window_size: 8, action: 'block' },
  { id: 'tool_repeat', rule_type: 'tool_repeat', threshold: 3, window_size: 8, action: 'block' },
  { id: 'error_retry', rule_type: 'error_retry', threshold: 5, window_size: 0, action: 'block' },
  { id: 'sequence_repeat', rule_type: 'sequence_repeat', threshold: 3, window_size: 15, action: 'block' },
  { id: 'max_requests', rule_type: 'max_requests', threshold: 50, window_size: 0, action: 'block' },
  { id: 'max_tokens', rule_type: 'max_tokens', threshold: 100_000, window_size: 0, action: 'block' },
]

/** The kinds that a plan compares: one gateway on SQLite, then each number of gateways on PostgreSQL. */
export const kindsOf = (sizes: readonly number[]): readonly Kind[] => [
  { store: 'sqlite', gateways: 1, routing: 'sticky' },
  ...sizes.flatMap((gateways): readonly Kind[] =>
    gateways === 1
      ? [{ store: 'postgres', gateways, routing: 'sticky' }]
      : [
          { store: 'postgres', gateways, routing: 'sticky' },
          { store: 'postgres', gateways, routing: 'any' },
        ],
  ),
]

/** The fleets that a plan needs: all run at the same time, one of them works. */
export class Fleets {
  readonly #fleets = new Map<string, Fleet>()

  static async start(setup: ScaleSetup, sizes: readonly number[]): Promise<Fleets> {
    const fleets = new Fleets()
    for (const { store, gateways } of kindsOf(sizes)) {
      const name = `${store} ${gateways}`
      if (fleets.#fleets.has(name)) continue
      const fleet = await setup.fleet(store, gateways)
      await setPolicy(fleet, FREE, 'shadow', rules)
      await setPolicy(fleet, BUDGET, 'shadow', [...rules, budget])
      fleets.#fleets.set(name, fleet)
    }
    return fleets
  }

  of({ store, gateways }: Pick<Kind, 'store' | 'gateways'>): Fleet {
    const fleet = this.#fleets.get(`${store} ${gateways}`)
    if (fleet === undefined) throw new Error(`no ${gateways} gateways on ${store} were started`)
    return fleet
  }
}

const shapeOf = (id: string): Shape => {
  const shape = shapes().find((one) => one.id === id)
  if (shape === undefined) throw new Error(`there is no shape "${id}"`)
  return shape
}

/** The load of a case. */
export const loadOf = ({ shape, routing, budget: held }: Case, clients: number, requests: number): Load => ({
  shape: shapeOf(shape),
  routing,
  requests,
  clients,
  headers: { 'x-guard-project-id': held ? BUDGET : FREE },
})

/** Measures every case in every round, in an order that turns with the round. */
export const measureGateways = async (
  setup: ScaleSetup,
  fleets: Fleets,
  plan: GatewaysPlan,
  log: (line: string) => void,
): Promise<readonly CaseSample[]> => {
  const sampler = new Sampler(setup)
  const kinds = kindsOf(plan.sizes)
  const cases = plan.loads.flatMap((load) => kinds.map((kind): Case => ({ ...kind, ...load })))
  if (plan.warm_up > 0)
    for (const of of cases.filter(({ routing, gateways }) => routing === 'any' || gateways === 1)) {
      log(`warm-up: ${nameOf(of)}`)
      const requests = Math.ceil((plan.warm_up * of.gateways) / plan.loads.length)
      await sampler.sample(fleets.of(of), loadOf(of, plan.agents, requests))
    }
  const samples: CaseSample[] = []
  for (let round = 0; round < plan.rounds; round++) {
    log(`round ${round + 1} of ${plan.rounds}`)
    for (const of of turned(cases, round))
      samples.push({ ...(await sampler.sample(fleets.of(of), loadOf(of, plan.agents, plan.requests))), of, round })
  }
  return samples
}

/** One request at a time: the latency that a storage adds. */
export const measureLatency = async (
  setup: ScaleSetup,
  fleets: Fleets,
  plan: GatewaysPlan,
  requests: number,
): Promise<readonly CaseSample[]> => {
  const sampler = new Sampler(setup)
  const cases = kindsOf(plan.sizes.slice(0, 1)).map((kind): Case => ({ ...kind, shape: 'chat_1k', budget: false }))
  const samples: CaseSample[] = []
  for (let round = 0; round < plan.rounds; round++)
    for (const of of turned(cases, round)) {
      samples.push({ ...(await sampler.sample(fleets.of(of), loadOf(of, 1, requests))), of, round })
    }
  return samples
}

const turned = <T>(list: readonly T[], by: number): readonly T[] => {
  const first = by % list.length
  return [...list.slice(first), ...list.slice(0, first)]
}

/** The name of a case, as tables show it. */
export const nameOf = ({ store, gateways, routing, budget: held, shape }: Case): string => {
  const where = gateways === 1 ? '' : `, ${routing}`
  return `${shape}${held ? ' + budget' : ''}, ${store} ×${gateways}${where}`
}
