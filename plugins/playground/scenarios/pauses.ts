import { allowed, done, paused } from '../expectations.ts'
import { type ModelScenario, type ModelStep, scenario } from '../scenario.ts'
import { asking } from './agent-work.ts'

const stopped = (target: 'session' | 'agent', reason: string): readonly ModelStep[] => [
  asking('a request', 'Look at part 1.', allowed),
  { what: `somebody pauses the ${target}`, do: 'pause', target, expect: done },
  asking('the next request', 'Look at part 2.', paused(reason)),
  { what: `somebody resumes the ${target}`, do: 'resume', target, expect: done },
  asking('the request after that', 'Look at part 3.', allowed),
]

const story = (target: 'session' | 'agent', title: string, summary: string): ModelScenario => ({
  id: `paused-${target}`,
  title,
  summary,
  kind: 'model',
  steps: stopped(target, target === 'session' ? 'PAUSED_SESSION' : 'PAUSED_AGENT'),
})

export const pausedSession = scenario(
  story('session', 'A paused session', 'What a paused session sends is refused in any mode, until it is resumed.'),
)

export const pausedAgent = scenario(
  story('agent', 'A paused agent', 'What a paused agent sends is refused in any mode, until it is resumed.'),
)
