import type { Gateway } from 'guard-gateway/core'
import { jsonObjectOf, listOf } from '#lib/json'
import { gauge, type Metric } from './samples.ts'

const STATES = ['closed', 'open', 'half_open'] as const

type Sample = readonly [values: readonly string[], value: number]

/** Whether upstreams are asked, as they say of their health at the moment: cool-downs, circuits, keys. No key is named. */
export const upstreamMetrics = (gateway: Gateway): readonly Metric[] => {
  const each = (samples: (name: string, upstream: ReturnType<typeof jsonObjectOf>) => readonly Sample[]) => () =>
    listOf(gateway.health.get('upstreams')?.())
      .map(jsonObjectOf)
      .flatMap((upstream) => samples(String(upstream.name), upstream))
  return [
    gauge(
      'guard_upstream_ready',
      '1 if requests go to this upstream, 0 while it rests or its circuit is open.',
      ['upstream'],
      each((name, { ready }) => [[[name], ready === true ? 1 : 0]]),
    ),
    gauge(
      'guard_upstream_wait_seconds',
      'How long this upstream is still not asked.',
      ['upstream'],
      each((name, { wait_seconds }) => [[[name], Number(wait_seconds)]]),
    ),
    gauge(
      'guard_upstream_failures',
      'Attempts at this upstream that failed one after another, up to now.',
      ['upstream'],
      each((name, { failures }) => [[[name], Number(failures)]]),
    ),
    gauge(
      'guard_upstream_circuit',
      '1 for the state that the circuit of this upstream is in.',
      ['upstream', 'state'],
      each((name, { circuit }) => STATES.map((state) => [[name, state], circuit === state ? 1 : 0])),
    ),
    gauge(
      'guard_upstream_keys',
      'Keys of an upstream that has several.',
      ['upstream', 'state'],
      each((name, { keys }) => {
        const { count, resting } = jsonObjectOf(keys)
        if (typeof count !== 'number' || typeof resting !== 'number') return []
        return [
          [[name, 'ready'], count - resting],
          [[name, 'resting'], resting],
        ]
      }),
    ),
  ]
}
