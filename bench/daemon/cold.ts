import { type Shape, shapes } from '../load/shapes.ts'
import { type DaemonFigure, figureOf, type Values } from './figures.ts'
import type { Fleet } from './fleet.ts'
import type { DaemonPlan } from './plan.ts'

/** The targets take turns, because the speed of the machine varies from second to second. */
const TURNS = 4

const measured = [{ id: 'chat_1k' }, { id: 'chat_32k', must: { ratio: 3 } }, { id: 'growing_64k' }]

/** The shapes that are measured before the engine has compiled everything. */
export const coldShapes = (): readonly Shape[] => shapes().filter(({ id }) => measured.some((one) => one.id === id))

/** CPU per request of new targets after few requests. */
export const coldRequests = async (fleet: Fleet, shape: Shape, plan: DaemonPlan['cold']): Promise<Values> => {
  const { daemons } = fleet
  for (const daemon of daemons) await fleet.load(daemon, shape, plan.before)
  const before = daemons.map((daemon) => daemon.usage().cpu_us)
  for (let turn = 0; turn < TURNS; turn++)
    for (let at = 0; at < daemons.length; at++) {
      const daemon = daemons[(turn + at) % daemons.length]
      if (daemon !== undefined) await fleet.load(daemon, shape, plan.measured / TURNS)
    }
  return Object.fromEntries(
    daemons.map((daemon, at) => [daemon.program.name, (daemon.usage().cpu_us - (before[at] ?? 0)) / plan.measured]),
  )
}

export const coldFigure = (shape: Shape, rounds: readonly Values[], { before }: DaemonPlan['cold']): DaemonFigure => {
  const must = measured.find(({ id }) => id === shape.id)?.must
  const title = `CPU a request, ${shape.title}, after ${before} requests`
  return figureOf(`cpu_${shape.id}_${before}`, title, 'µs', rounds, must === undefined ? {} : { must })
}
