import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { administrationOf } from './administration.ts'
import { playgroundErrors } from './error-codes.ts'
import { scriptedProvider } from './provider.ts'
import { Runs } from './runs.ts'
import { builtInScenarios } from './scenarios/index.ts'
import { runsTable } from './tables.ts'

export { type PlaygroundCommandOptions, playgroundCommands } from './commands.ts'
export type {
  Answer,
  ApproveStep,
  CallStep,
  Expect,
  Failure,
  ListStep,
  McpScenario,
  McpStep,
  ModelScenario,
  ModelStep,
  Outcome,
  PauseStep,
  RequestStep,
  Scenario,
  ScriptedCall,
  ScriptedText,
  Step,
} from './scenario.ts'
export { scenario, scenariosOf } from './scenario.ts'

/** Scenarios whose end is known, run through the real pipeline with a provider that follows a script: no key, no network. */
export const playground = (): Plugin => ({
  name: 'playground',
  requires: ['sessions', 'policy', 'recorder'],
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(playgroundErrors))
    gateway.tables.add(runsTable)
    for (const entry of builtInScenarios) entry.apply(gateway)
    const runs = new Runs(gateway, scriptedProvider(gateway))
    gateway.hooks.open.tapPromise('playground', () => runs.open())
    // before the HTTP face goes: a run in progress may still call it
    gateway.hooks.close.tapPromise({ name: 'playground', stage: stages.close.streams }, () => runs.close())
    gateway.hooks.http.tapPromise('playground', async (app) => {
      const administration = administrationOf(gateway, app)
      const [{ routes }, { demoRoute }] = await Promise.all([import('./routes.ts'), import('./demo-route.ts')])
      await app.register(routes(gateway, runs, administration), { prefix: '/api/v1/playground' })
      await app.register(demoRoute(runs, administration), { prefix: '/api' })
      const { addPages } = await import('./page/index.ts')
      addPages({ gateway, runs, administration })
    })
  },
})
