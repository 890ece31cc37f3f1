import { type Shape, shapes } from '../load/shapes.ts'
import { type DaemonFigure, figureOf, type Values } from './figures.ts'
import type { Fleet } from './fleet.ts'
import type { DaemonPlan } from './plan.ts'

/** The targets take turns, because the speed of the machine varies from second to second. */
const TURNS = 4

const measured = [
  { id: 'chat_1k' },
  { id: 'chat_32k', must: { ratio: 3 } },
  { id: 'flagged_32k' },
  { id: 'growing_64k' },
]

/** The shapes that are measured before the engine has compiled everything. */
export const coldShapes = (): readonly Shape[] => shapes().filter(({ id }) => measured.some((one) => one.id === id))

/** CPU per request of new targets. */
export interface Cold {
  /** Of their first requests. */
  readonly first: Values
  /** Of those after them. */
  readonly after: Values
}

export const coldRequests = async (fleet: Fleet, shape: Shape, plan: DaemonPlan['cold']): Promise<Cold> => ({
  first: await inTurns(fleet, shape, plan.before),
  after: await inTurns(fleet, shape, plan.measured),
})

const inTurns = async (fleet: Fleet, shape: Shape, requests: number): Promise<Values> => {
  const { daemons } = fleet
  const before = daemons.map((daemon) => daemon.usage().cpu_us)
  for (let turn = 0; turn < TURNS; turn++)
    for (let at = 0; at < daemons.length; at++) {
      const daemon = daemons[(turn + at) % daemons.length]
      if (daemon !== undefined) await fleet.load(daemon, shape, requests / TURNS)
    }
  return Object.fromEntries(
    daemons.map((daemon, at) => [daemon.program.name, (daemon.usage().cpu_us - (before[at] ?? 0)) / requests]),
  )
}

export const coldFigures = (
  shape: Shape,
  rounds: readonly Cold[],
  { before }: DaemonPlan['cold'],
): readonly DaemonFigure[] => {
  const must = measured.find(({ id }) => id === shape.id)?.must
  const figure = (id: string, when: string, values: readonly Values[], options = {}) =>
    figureOf(`cpu_${shape.id}_${id}`, `CPU a request, ${shape.title}, ${when}`, 'µs', values, options)
  return [
    figure(
      `first_${before}`,
      `first ${before} requests`,
      rounds.map(({ first }) => first),
    ),
    figure(
      String(before),
      `after ${before} requests`,
      rounds.map(({ after }) => after),
      must === undefined ? {} : { must },
    ),
  ]
}
