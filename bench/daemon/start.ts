import { type DaemonFigure, figureOf, type Values } from './figures.ts'
import type { DaemonSetup } from './fleet.ts'

const MUST = { value: { package: 500, sources: 800 } }

/** Starts every target in every round. */
export const measureStart = async (setup: DaemonSetup, rounds: number): Promise<DaemonFigure> => {
  const samples: Values[] = []
  for (let round = 0; round < rounds; round++) {
    const values: Record<string, number> = {}
    for (const program of setup.programs) {
      const daemon = await setup.launch(program)
      await daemon.stop()
      values[program.name] = daemon.start_ms
    }
    samples.push(values)
  }
  return figureOf('start', 'start to listening', 'ms', samples, { must: MUST })
}
