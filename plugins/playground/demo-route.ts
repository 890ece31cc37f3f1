import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Administration } from './administration.ts'
import { namedScenario } from './named-scenario.ts'
import type { Runs } from './runs.ts'
import { demoBody, runSchema } from './schemas.ts'
import { runView } from './views.ts'

const TIMEOUT_MS = 30_000

/** Running a scenario and waiting for its end, below `/api`. */
export const demoRoute =
  (runs: Runs, administration: Administration): FastifyPluginAsyncTypebox =>
  async (app) => {
    const schema = {
      summary: 'Run a scenario to its end; 202 if that takes longer than 30 s',
      tags: ['playground'],
      body: demoBody,
      response: { 200: runSchema, 202: runSchema },
    }
    app.post('/demo/run', { schema }, async ({ body }, reply) => {
      const { mode = 'shadow' } = body ?? {}
      const scenario = namedScenario(body ?? {}, 'exact-loop')
      const { id } = await runs.start({ scenario, mode, pace_ms: 0 }, administration)
      const ended = await within(TIMEOUT_MS, runs.ended(id))
      return reply.code(ended ? 200 : 202).send(runView(await runs.need(id)))
    })
  }

/** Whether the work was done within this time, in milliseconds. */
const within = async (limit: number, work: Promise<void>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limit)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
